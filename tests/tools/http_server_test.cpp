#include "tools/web/http_server.h"

#include <vector>

#include "tests/support/http_desk.h"

namespace engram {

using namespace test;
using namespace std::chrono_literals;

TEST_CASE("A request reaches the handler decoded, and its answer the client", "[tools][http]") {
  const auto server = serve();
  const std::string answer = ask(server->port(), get("/a%20b/%C3%A9?x=1+2&y=%26"));
  CHECK(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(has(answer, "\r\n\r\nGET /a b/é x=1 2 y=& 0"));
  CHECK(has(ask(server->port(), "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"),
            "POST /p 3"));
  CHECK(server->counters().requests == 2);
  CHECK(server->counters().refused == 0);
}

TEST_CASE("A connection serves request after request, and those sent ahead in their order",
          "[tools][http]") {
  const auto server = serve();
  HttpClient client(server->port());
  for (const char* path : {"/1", "/2", "/3"}) {
    client.send(get(path));
    CHECK(client.receive_answer().ends_with(std::string(path) + " 0"));
  }
  client.send(get("/4") + post(2) + "ab" + get("/5"));
  CHECK(has(client.receive_answer(), "GET /4 0"));
  CHECK(has(client.receive_answer(), "POST /p 2"));
  CHECK(has(client.receive_answer(), "GET /5 0"));
  client.send(get("/6", "Connection: close\r\n"));
  CHECK(has(client.receive_all(), "Connection: close"));
  CHECK(client.ended());
  CHECK(ask(server->port(), "GET /old HTTP/1.0\r\n\r\n").ends_with("GET /old 0"));
}

TEST_CASE("HEAD is GET without the body", "[tools][http]") {
  const auto server = serve();
  const std::string answer = ask(server->port(), "HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK(has(answer, "Content-Length: 8\r\n"));
  CHECK(answer.ends_with("\r\n\r\n"));
}

TEST_CASE("What is not HTTP as it should be is refused", "[tools][http]") {
  struct Case {
    std::string request;
    int status;
  };
  using namespace std::string_literals;
  const std::vector<Case> cases = {
      {"nonsense\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},                        // no Host
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},  // two
      {"GET / HTTP/1.1\r\nHost: a\r\n folded: x\r\nOrigin: a\r\norigin: b\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n"s, 400},
      {"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"s, 400},
      {get("/%00"), 400},
      {get("/%0a"), 400},
      {get("/%f"), 400},
      {get("/%zz"), 400},
      {get("/%C3"), 400},
      {get("/?a=%"), 400},
      {get("/?a=1&a=2"), 400},
      {get("path"), 400},
      {get("*"), 400},
      {get("https://localhost/"), 400},
      {get("http://user@localhost/"), 400},
      {"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
      {"get / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
      {"PROPFIND / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
      {"TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 405},
      {"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 405},
      {"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 405},
      {get("/", "Expect: miracles\r\n"), 417},
      {get("/", "Transfer-Encoding: gzip, chunked\r\n"), 501},
      {get("/", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"), 400},
      {get("/", "Content-Length: 3\r\nContent-Length: 4\r\n"), 400},
      {get("/", "Content-Length: -1\r\n"), 400},
      {get("/", "Content-Length: 0x10\r\n"), 400},
      {get("/", "Content-Length: 99999999999999999999999\r\n"), 400},
      {get("/", "Content-Length: 18446744073709551615\r\n"), 413},
      {get("/", "Transfer-Encoding: chunked\r\n") + "zz\r\n", 400},
      {get("/", "Transfer-Encoding: chunked\r\n") + "ffffffffffffffff\r\n", 413},
  };
  const auto server = serve();
  for (const Case& one : cases) {
    INFO(one.request);
    const std::string answer = ask(server->port(), one.request);
    CHECK(status_of(answer) == one.status);
    CHECK(has(answer, "{\"error\":"));
    CHECK(has(answer, "Connection: close"));
  }
  CHECK(server->counters().requests == 0);
  CHECK(server->counters().refused == cases.size());
  CHECK(status_of(ask(server->port(), get("/"))) == 200);
}

TEST_CASE("A target in absolute form counts more than Host", "[tools][http]") {
  const auto server = serve([](const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
    reply->answer({200, "text/plain", request.headers.at("host") + request.path, {}});
  });
  CHECK(ask(server->port(), get("HTTP://Other:1/x")).ends_with("\r\n\r\nOther:1/x"));
  CHECK(ask(server->port(), get("http://other?q=1")).ends_with("\r\n\r\nother/"));
}

TEST_CASE("What follows a chunked body does not become a header", "[tools][http]") {
  const auto server = serve([](const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
    reply->answer({200, "text/plain", request.headers.at("host") + request.body, {}});
  });
  CHECK(ask(server->port(), get("/", "Transfer-Encoding: chunked\r\n") +
                                "3;note=x\r\nabc\r\n2\r\nde\r\n0\r\nHost: evil\r\n\r\n")
            .ends_with("\r\n\r\nlocalhostabcde"));
}

TEST_CASE("A client that wants to be asked before it sends a body is asked", "[tools][http]") {
  const auto server = serve();
  HttpClient client(server->port());
  client.send(post(5, "Expect: 100-continue\r\n"));
  CHECK(client.receive_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hello");
  CHECK(client.receive_answer().ends_with("POST /p 5"));
}

TEST_CASE("Every answer has the usual headers, and none that would split it", "[tools][http]") {
  HttpOptions options;
  options.headers = {{"X-Usual", "1"}, {"Cache-Control", "no-store"}};
  const auto server = serve(
      [](const HttpRequest&, std::shared_ptr<HttpReply> reply) {
        reply->answer({200,
                       "text/plain",
                       "x",
                       {{"cache-control", "max-age=9"},
                        {"X-Split", "a\r\nX-Evil: 1"},
                        {"X Y", "1"},
                        {"content-length", "7"}}});
      },
      options);
  const std::string answer = ask(server->port(), get("/"));
  CHECK(has(answer, "X-Usual: 1\r\n"));
  CHECK(has(answer, "cache-control: max-age=9\r\n"));
  CHECK_FALSE(has(answer, "no-store"));
  CHECK_FALSE(has(answer, "X-Evil"));
  CHECK_FALSE(has(answer, "X Y"));
  CHECK(has(answer, "Content-Length: 1\r\n"));
  CHECK_FALSE(has(answer, "content-length"));
  CHECK(has(ask(server->port(), "bad\r\n\r\n"), "X-Usual: 1\r\n"));
}

TEST_CASE("An address that cannot be had is refused with what to do", "[tools][http]") {
  const auto server = serve();
  HttpOptions options;
  options.port = server->port();
  const auto taken = HttpServer::start(options, echo);
  REQUIRE(taken.status().code() == Code::busy);
  CHECK(has(taken.status().what(), "--http :0"));
  for (const char* address : {"192.0.2.1", "name", "", "1.2.3", "127.0.0.1 "}) {
    INFO(address);
    options = {};
    options.port = 0;
    options.address = address;
    CHECK(HttpServer::start(options, echo).status().code() == Code::invalid_argument);
  }
  for (const int port : {-1, 65536}) {
    options = {};
    options.port = port;
    CHECK(HttpServer::start(options, echo).status().code() == Code::invalid_argument);
  }
}

}  // namespace engram
