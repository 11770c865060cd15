#include "tools/web/assets.h"

#include <string>

namespace engram {

const Asset* find_asset(std::string_view path) {
  for (const Asset& asset : assets()) {
    if (asset.path == path) return &asset;
  }
  return nullptr;
}

HttpResponse asset_response(const Asset& asset, const HttpRequest& request) {
  HttpResponse response;
  response.type = asset.type;
  response.headers = {{"ETag", std::string(asset.etag)}, {"Cache-Control", "no-cache"}};
  const auto has = request.headers.find("if-none-match");
  if (has != request.headers.end() && has->second == asset.etag) {
    response.status = 304;
  } else {
    response.body = asset.bytes;
  }
  return response;
}

}  // namespace engram
