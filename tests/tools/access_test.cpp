#include "tools/web/access.h"

#include <vector>

#include "platform/hash.h"
#include "tests/support/catch.h"
#include "tests/support/http_client.h"

namespace engram {
namespace {

using Headers = std::map<std::string, std::string>;
using Kind = AccessDecision::Kind;
constexpr const char* kToken = "0123456789abcdef0123456789abcdef";

struct Case {
  const char* what;
  std::string method, path;
  Headers headers;
  int status;  // 0: allowed
  std::map<std::string, std::string> query = {};
};

int status_of(const Case& one, const AccessRules& rules) {
  HttpRequest request;
  request.method = one.method;
  request.path = one.path;
  request.headers = one.headers;
  request.query = one.query;
  const AccessDecision decision = decide(request, rules);
  return decision.kind == Kind::allow ? 0 : decision.status;
}

AccessRules bench(const std::string& token) {
  AccessRules rules;
  rules.hosts = {"localhost", "127.0.0.1", "[::1]", "bench", "bench.local", "192.168.1.17"};
  rules.token = token;
  rules.cookie = "engram_8477";
  return rules;
}

void check(const std::vector<Case>& cases, const AccessRules& rules) {
  for (const Case& one : cases) {
    INFO(one.what);
    CHECK(status_of(one, rules) == one.status);
  }
}

}  // namespace

TEST_CASE("Only who calls us by our name is served", "[tools][access]") {
  AccessRules rules = bench("");
  check(
      {
          {"our name", "GET", "/", {{"host", "localhost:8477"}}, 0},
          {"another port, through a tunnel", "GET", "/", {{"host", "localhost:9000"}}, 0},
          {"no port", "GET", "/", {{"host", "127.0.0.1"}}, 0},
          {"IPv6", "GET", "/", {{"host", "[::1]:8477"}}, 0},
          {"large letters, a last dot", "GET", "/", {{"host", "Bench.Local.:8477"}}, 0},
          {"DNS rebinding", "GET", "/", {{"host", "evil.example:8477"}}, 421},
          {"our name in theirs", "GET", "/", {{"host", "localhost.evil.example"}}, 421},
          {"an address in a name", "GET", "/", {{"host", "127.0.0.1.nip.io:8477"}}, 421},
          {"another address", "GET", "/", {{"host", "10.0.0.1:8477"}}, 421},
          {"a name and password", "GET", "/", {{"host", "localhost@evil.example"}}, 421},
          {"two in one", "GET", "/", {{"host", "localhost, evil.example"}}, 421},
          {"no host", "GET", "/", {}, 421},
          {"an empty one", "GET", "/", {{"host", ""}}, 421},
          {"health, for whoever asks", "GET", "/health", {{"host", "evil.example"}}, 0},
          {"no change by it", "POST", "/health", {{"host", "evil.example"}}, 421},
          {"nothing near it", "GET", "/health/", {{"host", "evil.example"}}, 421},
      },
      rules);
  rules.any_ip = true;
  check({{"all addresses are ours", "GET", "/", {{"host", "10.0.0.1:8477"}}, 0},
         {"names are not", "GET", "/", {{"host", "evil.example"}}, 421}},
        rules);
}

TEST_CASE("A stranger's page changes nothing and reads nothing", "[tools][access]") {
  const std::string host = "localhost:8477";
  check(
      {
          {"our page", "POST", "/api", {{"host", host}, {"origin", "http://localhost:8477"}}, 0},
          {"our page through TLS",
           "POST",
           "/api",
           {{"host", "bench"}, {"origin", "https://bench"}},
           0},
          {"a program", "POST", "/api", {{"host", host}, {"x-engram", "1"}}, 0},
          {"a form without origin", "POST", "/api", {{"host", host}}, 403},
          {"a form with another header", "POST", "/api", {{"host", host}, {"x-engram", "2"}}, 403},
          {"a stranger", "POST", "/api", {{"host", host}, {"origin", "http://evil.example"}}, 403},
          {"a stranger with our header",
           "POST",
           "/api",
           {{"host", host}, {"origin", "http://evil.example"}, {"x-engram", "1"}},
           403},
          {"another port of this machine",
           "POST",
           "/api",
           {{"host", host}, {"origin", "http://localhost:8080"}},
           403},
          {"another of our names",
           "POST",
           "/api",
           {{"host", host}, {"origin", "http://127.0.0.1:8477"}},
           403},
          {"our name in theirs",
           "POST",
           "/api",
           {{"host", host}, {"origin", "http://localhost:8477.evil.example"}},
           403},
          {"a sandboxed frame", "DELETE", "/api", {{"host", host}, {"origin", "null"}}, 403},
          {"an empty origin", "PUT", "/api", {{"host", host}, {"origin", ""}}, 403},
          {"a file", "PATCH", "/api", {{"host", host}, {"origin", "file://"}}, 403},
          {"another scheme",
           "POST",
           "/api",
           {{"host", host}, {"origin", "ftp://localhost:8477"}},
           403},
          {"a fetch that reads",
           "GET",
           "/api",
           {{"host", host}, {"origin", "http://evil.example"}},
           403},
          {"an image in a stranger's page",
           "GET",
           "/stream",
           {{"host", host}, {"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "no-cors"}},
           403},
          {"an image in a neighbour's page",
           "GET",
           "/stream",
           {{"host", host}, {"sec-fetch-site", "same-site"}, {"sec-fetch-mode", "no-cors"}},
           403},
          {"a link that is followed",
           "GET",
           "/",
           {{"host", host}, {"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "navigate"}},
           0},
          {"a frame in a stranger's page",
           "GET",
           "/api/export",
           {{"host", host}, {"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "navigate"}},
           403},
          {"a form that pretends to be a program",
           "POST",
           "/api",
           {{"host", host},
            {"x-engram", "1"},
            {"sec-fetch-site", "cross-site"},
            {"sec-fetch-mode", "navigate"}},
           403},
          {"our own image",
           "GET",
           "/stream",
           {{"host", host}, {"sec-fetch-site", "same-origin"}, {"sec-fetch-mode", "no-cors"}},
           0},
      },
      bench(""));
}

TEST_CASE("Where a token is needed nothing is open without it", "[tools][access]") {
  const std::string host = "192.168.1.17:8477", token = kToken;
  const std::string cookie = "engram_8477=" + token;
  check(
      {
          {"nothing", "GET", "/", {{"host", host}}, 401},
          {"the right token", "GET", "/", {{"host", host}}, 303, {{"token", token}}},
          {"with the cookie as well",
           "GET",
           "/",
           {{"host", host}, {"cookie", cookie}},
           303,
           {{"token", token}}},
          {"a wrong one",
           "GET",
           "/",
           {{"host", host}},
           401,
           {{"token", "0" + token.substr(1, 30) + "0"}}},
          {"the start of it", "GET", "/", {{"host", host}}, 401, {{"token", token.substr(0, 31)}}},
          {"more than it", "GET", "/", {{"host", host}}, 401, {{"token", token + "0"}}},
          {"none in it", "GET", "/", {{"host", host}}, 401, {{"token", ""}}},
          {"elsewhere than at the door", "GET", "/api", {{"host", host}}, 401, {{"token", token}}},
          {"the cookie", "GET", "/api", {{"host", host}, {"cookie", "a=b; " + cookie}}, 0},
          {"a cookie of another port",
           "GET",
           "/api",
           {{"host", host}, {"cookie", "engram_80=" + token}},
           401},
          {"an empty cookie", "GET", "/api", {{"host", host}, {"cookie", "engram_8477="}}, 401},
          {"a program", "GET", "/api", {{"host", host}, {"authorization", "Bearer " + token}}, 0},
          {"a program that shouts",
           "GET",
           "/api",
           {{"host", host}, {"authorization", "BEARER " + token}},
           0},
          {"another scheme",
           "GET",
           "/api",
           {{"host", host}, {"authorization", "Basic " + token}},
           401},
          {"a wrong program", "GET", "/api", {{"host", host}, {"authorization", "Bearer "}}, 401},
          {"health", "GET", "/health", {{"host", host}}, 0},
          {"metrics", "GET", "/metrics", {{"host", host}}, 401},
          {"a form with the cookie", "POST", "/api", {{"host", host}, {"cookie", cookie}}, 403},
          {"a stranger's page with the cookie",
           "POST",
           "/api",
           {{"host", host}, {"cookie", cookie}, {"origin", "http://evil.example"}},
           403},
          {"the right token by another name of ours",
           "GET",
           "/",
           {{"host", "evil.example"}},
           421,
           {{"token", token}}},
          {"changes by a program without token",
           "POST",
           "/api",
           {{"host", host}, {"x-engram", "1"}},
           401},
      },
      bench(token));
}

TEST_CASE("Rules follow the address", "[tools][access]") {
  const AccessRules loopback = access_rules({"127.0.0.1", 8477}, random_token());
  CHECK(loopback.token.empty());
  CHECK_FALSE(loopback.any_ip);
  CHECK(loopback.hosts.count("localhost") == 1);
  CHECK(access_rules({"::1", 8477}, random_token()).token.empty());
  const AccessRules open = access_rules({"0.0.0.0", 8477}, random_token(), {"Bench.example"});
  CHECK(open.token.size() == 32);
  CHECK(open.any_ip);
  CHECK(open.hosts.count("bench.example") == 1);
  CHECK(open.token != access_rules({"0.0.0.0", 8477}, random_token()).token);
  const AccessRules one = access_rules({"192.168.1.17", 8477}, random_token());
  CHECK_FALSE(one.token.empty());
  CHECK_FALSE(one.any_ip);
  CHECK(one.hosts.count("192.168.1.17") == 1);
  CHECK(access_rules({"fe80::1", 1}, random_token()).hosts.count("[fe80::1]") == 1);
  CHECK(open.cookie == "engram_8477");
  const AccessRules any_port = access_rules({"0.0.0.0", 0}, random_token());
  CHECK(any_port.cookie != access_rules({"0.0.0.0", 0}, random_token()).cookie);
  CHECK(any_port.cookie.find(any_port.token.substr(0, 8)) == std::string::npos);
}

TEST_CASE("Names that can be allowed", "[tools][access]") {
  for (const char* name : {"bench", "Bench.example", "bench.example.", "10.0.0.5", "[fe80::1]"}) {
    INFO(name);
    CHECK(check_host_name(name).ok());
  }
  for (const std::string& name : {std::string(), std::string("http://bench"), std::string("a:80"),
                                  std::string("a b"), std::string("*"), std::string(300, 'a')}) {
    INFO(name);
    CHECK(check_host_name(name).code() == Code::invalid_argument);
  }
  CHECK(access_rules({"127.0.0.1", 1}, "", {"Bench.example."}).hosts.count("bench.example") == 1);
}

TEST_CASE("Wrong tokens have a budget a second", "[tools][access]") {
  TokenBudget budget;
  TokenBudget::Time now{std::chrono::hours(1)};
  for (int i = 0; i < 5; ++i) CHECK(budget.take(now));
  CHECK_FALSE(budget.take(now));
  CHECK_FALSE(budget.take(now + std::chrono::milliseconds(999)));
  CHECK(budget.take(now + std::chrono::seconds(1)));
}

TEST_CASE("The guard before a real server", "[tools][access]") {
  HttpOptions options;
  options.port = 0;
  options.headers = security_headers();
  const AccessRules rules = bench(kToken);
  auto server = HttpServer::start(
      options, guard(rules, [](const HttpRequest&, std::shared_ptr<HttpReply> reply) {
        reply->answer({200, "text/plain", "inside", {}});
      }));
  REQUIRE(server.ok());
  const auto get = [&](const std::string& target, const std::string& more) {
    return test::ask(server.value()->port(),
                     "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n");
  };
  const std::string first = get("/?token=" + std::string(kToken), "");
  CHECK(first.starts_with("HTTP/1.1 303 "));
  CHECK(first.find("Location: /\r\n") != std::string::npos);
  CHECK(first.find("Set-Cookie: engram_8477=" + std::string(kToken) +
                   "; Path=/; HttpOnly; SameSite=Lax\r\n") != std::string::npos);
  CHECK(get("/", "Cookie: engram_8477=" + std::string(kToken) + "\r\n").ends_with("inside"));
  const std::string page = get("/", "Accept: text/html,*/*;q=0.8\r\n");  // somebody reads it
  CHECK(page.starts_with("HTTP/1.1 401 "));
  CHECK(page.find("Content-Type: text/html") != std::string::npos);
  CHECK(page.find("sudo engram service token") != std::string::npos);
  for (const char* foreign : {"<script", "<style", "style=", "\"error\""}) {
    CHECK(page.find(foreign) == std::string::npos);
  }
  CHECK(get("/api/state", "Accept: text/html\r\n").find("\"error\"") != std::string::npos);
  CHECK(get("/", "Accept: */*\r\n").find("\"error\"") != std::string::npos);
  int refused = 0, slowed = 0;
  for (int i = 0; i < 30; ++i) {
    const std::string answer = get("/?token=wrong", "");
    refused += answer.starts_with("HTTP/1.1 401 ");
    slowed += answer.starts_with("HTTP/1.1 429 ");
  }
  CHECK(refused + slowed == 30);
  CHECK(refused >= 5);
  CHECK(get("/", "Authorization: Bearer " + std::string(kToken) + "\r\n").ends_with("inside"));
  for (const std::string& answer : {first, page, get("/", ""), get("/%", "")}) {
    CHECK(answer.find("Content-Security-Policy: default-src 'none'; script-src 'self'") !=
          std::string::npos);
    CHECK(answer.find("unsafe") == std::string::npos);
    for (const char* name :
         {"X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
          "Cross-Origin-Resource-Policy: same-origin", "Cross-Origin-Opener-Policy: same-origin",
          "Cache-Control: no-store"}) {
      CHECK(answer.find(name) != std::string::npos);
    }
  }
}

}  // namespace engram
