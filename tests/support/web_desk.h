// The API on a real server over a real session, asked by a client that sends any bytes.
#pragma once

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "tests/support/catch.h"
#include "tests/support/http_client.h"
#include "tests/support/live_desk.h"
#include "tools/web/access.h"
#include "tools/web/api.h"

namespace engram::test {

struct Answered {
  int status = 0;
  std::string head, body;
  nlohmann::json parsed() const { return nlohmann::json::parse(body, nullptr, false); }
};

class Served {
 public:
  // With rules: behind guard(), as the camera app has it.
  explicit Served(std::optional<AccessRules> rules = {}) {
    HttpOptions options;
    options.port = 0;
    HttpHandler handler = [this](const auto& request, auto reply) {
      api->handle(request, std::move(reply));
    };
    if (rules) handler = guard(*rules, std::move(handler));
    auto started = HttpServer::start(options, std::move(handler));
    REQUIRE(started.ok());
    server = std::move(started).value();
    api->tell_counters([this] { return server->counters(); });
    REQUIRE(see(*live, [](const Sight&) { return true; }) != nullptr);
  }

  std::string head(const std::string& method, const std::string& target) const {
    return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n";
  }
  Answered ask(const std::string& request) const {
    HttpClient client(server->port());
    client.send(request);
    const std::string all = client.receive_answer();
    const std::size_t end = all.find("\r\n\r\n");
    if (end == std::string::npos || !all.starts_with("HTTP/1.1 ")) return {};
    return {std::atoi(all.c_str() + 9), all.substr(0, end + 2), all.substr(end + 4)};
  }
  Answered get(const std::string& target, const std::string& more = "") const {
    return ask(head("GET", target) + more + "\r\n");
  }
  Answered post(const std::string& target, const std::string& body,
                const std::string& type = "application/json") const {
    return ask(head("POST", target) + "Content-Type: " + type +
               "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  // What comes before the mark, and the mark.
  std::string stream(const std::string& target, const std::string& mark) const {
    HttpClient client(server->port());
    client.send(head("GET", target) + "\r\n");
    return client.receive_until(mark);
  }
  void show(Colour colour) {
    desk.scene->show(colour);
    REQUIRE(see(*live, [&](const Sight& s) { return shows(s, colour); }) != nullptr);
  }
  Answered learn(Colour colour, const std::string& label) {
    show(colour);
    return post("/api/learn", nlohmann::json{{"label", label}}.dump());
  }
  std::int64_t samples() const { return get("/api/state").parsed().at("samples"); }
  bool sees(const std::string& label) const {
    return see(*live, [&](const Sight& s) {
             return !s.answers.empty() && s.answers[0].label == label && !s.answers[0].unknown;
           }) != nullptr;
  }

  void end() {
    server.reset();
    api.reset();
    live.reset();
  }

  LiveDesk desk;
  std::unique_ptr<Live> live = desk.start();
  std::unique_ptr<Api> api = std::make_unique<Api>(*live);
  std::unique_ptr<HttpServer> server;
};

}  // namespace engram::test
