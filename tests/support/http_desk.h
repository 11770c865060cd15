// A server that echoes, and requests to send it.
#pragma once

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "tests/support/catch.h"
#include "tests/support/http_client.h"
#include "tools/web/http_server.h"

namespace engram::test {

// Answers with what it was asked: "method path name=value body-size".
inline void echo(const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
  std::string text = request.method + " " + request.path;
  for (const auto& [name, value] : request.query) text += " " + name + "=" + value;
  text += " " + std::to_string(request.body.size());
  reply->answer({200, "text/plain", text, {}});
}

inline std::unique_ptr<HttpServer> serve(HttpHandler handler = echo, HttpOptions options = {}) {
  options.port = 0;
  auto server = HttpServer::start(options, std::move(handler));
  REQUIRE(server.ok());
  return std::move(server).value();
}

inline std::string get(const std::string& target, const std::string& more = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
}

inline std::string post(std::size_t size, const std::string& more = "") {
  return "POST /p HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(size) + "\r\n" +
         more + "\r\n";
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline int status_of(const std::string& answer) {
  return answer.starts_with("HTTP/1.1 ") ? std::atoi(answer.c_str() + 9) : 0;
}

}  // namespace engram::test
