// From what Boost.Beast has parsed to an HttpRequest, and from a response to the bytes of its head.
#pragma once

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>

#include "tools/web/http_reply.h"

namespace engram {

using HttpRequestHead = boost::beast::http::header<true, boost::beast::http::fields>;

// Everything but the body, of a header that has at most that many bytes.
HttpRefusal read_head(const HttpRequestHead& head, std::size_t most, HttpRequest& request);

bool expects_continue(const HttpRequest& request);

// Status line, fields, empty line. `length`: of the body; nullopt: it lasts until the connection ends.
std::string response_head(int status, const std::string& type, std::optional<std::size_t> length,
                          bool keep_alive, const std::map<std::string, std::string>& headers,
                          const std::map<std::string, std::string>& usual_headers);
bool has_body(int status);

}  // namespace engram
