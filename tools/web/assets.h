// The page, compiled into the program: one binary, no file to lose. embed_assets.cmake writes the table
// from page/* and openapi.json.
#pragma once

#include <span>
#include <string_view>

#include "tools/web/http_server.h"

namespace engram {

struct Asset {
  std::string_view path;  // "/app.js"; the page itself is "/"
  std::string_view type;
  std::string_view etag;  // quoted, a hash of the bytes
  std::string_view bytes;
};

std::span<const Asset> assets();
const Asset* find_asset(std::string_view path);  // null: there is none
// The asset, or 304 where the client has it already.
HttpResponse asset_response(const Asset& asset, const HttpRequest& request);

}  // namespace engram
