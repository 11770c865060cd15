#include "tools/web/http_head.h"

#include <algorithm>
#include <array>
#include <boost/beast/http/status.hpp>

#include <fmt/format.h>

#include "tools/web/http_text.h"

namespace engram {
namespace {

namespace http = boost::beast::http;

// Two of them would let two readers of one request see two requests.
constexpr std::array kOnce = {"host",   "origin",         "authorization",     "content-type",
                              "expect", "content-length", "transfer-encoding", "x-engram"};

HttpRefusal bad_request(std::string why) {
  return {400, std::move(why), {}};
}

// Beast holds the limit for the first line and for the fields, each by itself.
std::size_t size_of(const HttpRequestHead& head) {
  std::size_t size = head.method_string().size() + head.target().size() + 14;  // "  HTTP/1.1", ends
  for (const auto& field : head) size += field.name_string().size() + field.value().size() + 4;
  return size;
}

HttpRefusal read_method(const HttpRequestHead& head, HttpRequest& request) {
  switch (head.method()) {
    case http::verb::head:
      request.method = "GET";
      return {};
    case http::verb::get:
    case http::verb::post:
    case http::verb::put:
    case http::verb::patch:
    case http::verb::delete_:
      request.method = std::string(head.method_string());
      return {};
    case http::verb::options:
    case http::verb::trace:
    case http::verb::connect:
      return {405,
              "This method is not for this server.",
              {{"Allow", "GET, HEAD, POST, PUT, PATCH, DELETE"}}};
    default:
      return {501, "This server does not know the method.", {}};
  }
}

HttpRefusal read_fields(const HttpRequestHead& head, HttpRequest& request) {
  for (const auto& field : head) {
    const std::string name = lower_case(std::string(field.name_string()));
    const std::string value(field.value());
    const auto [at, is_new] = request.headers.emplace(name, value);
    if (is_new) continue;
    if (std::find(kOnce.begin(), kOnce.end(), name) != kOnce.end()) {
      return bad_request(fmt::format("The header has two fields {}.", name));
    }
    at->second += (name == "cookie" ? "; " : ", ") + value;
  }
  const auto& headers = request.headers;
  if (const auto coding = headers.find("transfer-encoding"); coding != headers.end()) {
    if (lower_case(coding->second) != "chunked") {
      return {501, "Of all transfer encodings this server knows chunked.", {}};
    }
    if (headers.count("content-length") > 0 || head.version() < 11) {
      return bad_request("The length of the body is given in two ways.");
    }
  }
  if (const auto expect = headers.find("expect");
      expect != headers.end() && lower_case(expect->second) != "100-continue") {
    return {417, "This server expects nothing but 100-continue.", {}};
  }
  return {};
}

bool is_field(const std::string& name, const std::string& value) {
  const auto plain = [](unsigned char c) { return c == '\t' || (c >= ' ' && c != 0x7F); };
  const auto token = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), token) &&
         std::all_of(value.begin(), value.end(), plain);
}

}  // namespace

HttpRefusal read_head(const HttpRequestHead& head, std::size_t most, HttpRequest& request) {
  if (size_of(head) > most) return {431, "The header is too large.", {}};
  if (HttpRefusal refusal = read_method(head, request); refusal.status != 0) return refusal;
  if (HttpRefusal refusal = read_fields(head, request); refusal.status != 0) return refusal;
  std::optional<HttpTarget> target = parse_target(std::string(head.target()));
  if (!target) return bad_request("The address of the request is not well-formed.");
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  const auto host = request.headers.find("host");
  if (head.version() == 11 && host == request.headers.end()) {
    return bad_request("The header has no field Host.");
  }
  // RFC 9112, 3.2.2: the target counts, not the field.
  if (!target->authority.empty()) request.headers["host"] = target->authority;
  return {};
}

bool expects_continue(const HttpRequest& request) {
  return request.headers.count("expect") > 0;  // read_head has refused all others
}

bool has_body(int status) {
  return status >= 200 && status != 204 && status != 304;
}

std::string response_head(int status, const std::string& type, std::optional<std::size_t> length,
                          bool keep_alive, const std::map<std::string, std::string>& headers,
                          const std::map<std::string, std::string>& usual_headers) {
  std::map<std::string, std::pair<std::string, std::string>> fields;  // by lower-case name
  const auto add = [&](const std::string& name, const std::string& value) {
    if (is_field(name, value)) fields.emplace(lower_case(name), std::pair(name, value));
  };
  add("Connection", keep_alive ? "keep-alive" : "close");
  if (has_body(status)) {
    add("Content-Type", type);
    if (length) add("Content-Length", std::to_string(*length));
  }
  for (const auto& [name, value] : headers) add(name, value);
  for (const auto& [name, value] : usual_headers) add(name, value);
  const auto reason = http::obsolete_reason(http::int_to_status(unsigned(status)));
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", status, std::string(reason));
  for (const auto& [key, field] : fields) text += field.first + ": " + field.second + "\r\n";
  return text + "\r\n";
}

}  // namespace engram
