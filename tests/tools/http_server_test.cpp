#include "tools/web/http_server.h"

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/http_client.h"

namespace engram {
namespace {

using test::ask;
using test::HttpClient;
using namespace std::chrono_literals;

// Answers with what it was asked: "method path name=value body-size".
void echo(const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
  std::string text = request.method + " " + request.path;
  for (const auto& [name, value] : request.query) text += " " + name + "=" + value;
  text += " " + std::to_string(request.body.size());
  reply->answer({200, "text/plain", text, {}});
}

std::unique_ptr<HttpServer> serve(HttpHandler handler = echo, HttpOptions options = {}) {
  options.port = 0;
  auto server = HttpServer::start(options, std::move(handler));
  REQUIRE(server.ok());
  return std::move(server).value();
}

std::string get(const std::string& target, const std::string& more = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
}

std::string post(std::size_t size, const std::string& more = "") {
  return "POST /p HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(size) + "\r\n" +
         more + "\r\n";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

int status_of(const std::string& answer) {
  return answer.starts_with("HTTP/1.1 ") ? std::atoi(answer.c_str() + 9) : 0;
}

}  // namespace

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

TEST_CASE("Headers and bodies beyond the limits are refused", "[tools][http]") {
  HttpOptions options;
  options.most_header = 1024;
  options.most_body = 50'000;
  const auto server = serve(echo, options);
  const auto padded = [](std::size_t size) {
    const std::string bare = get("/", "X: \r\n");
    return get("/", "X: " + std::string(size - bare.size(), 'x') + "\r\n");
  };
  CHECK(status_of(ask(server->port(), padded(1024))) == 200);
  CHECK(status_of(ask(server->port(), padded(1025))) == 431);
  CHECK(status_of(ask(server->port(), get("/" + std::string(2000, 'x')))) == 431);
  CHECK(status_of(ask(server->port(), std::string(5000, 'x'))) == 431);
  std::string many;
  for (int i = 0; i < 500; ++i) many += "A" + std::to_string(i) + ": b\r\n";
  CHECK(status_of(ask(server->port(), get("/", many))) == 431);

  CHECK(has(ask(server->port(), post(50'000) + std::string(50'000, 'b')), "POST /p 50000"));
  CHECK(status_of(ask(server->port(), post(50'001))) == 413);
  CHECK(status_of(ask(server->port(), post(50'001, "Expect: 100-continue\r\n"))) == 413);
  const std::string chunk = "4000\r\n" + std::string(0x4000, 'c') + "\r\n";
  const std::string head = get("/", "Transfer-Encoding: chunked\r\n");
  CHECK(has(ask(server->port(), head + chunk + chunk + chunk + "0\r\n\r\n"), "GET / 49152"));
  CHECK(status_of(ask(server->port(), head + chunk + chunk + chunk + chunk)) == 413);
  CHECK(status_of(ask(server->port(), head + "4000;" + std::string(5000, 'x'))) == 431);
  // More than was announced is the next request, and a bad one.
  HttpClient liar(server->port());
  liar.send(post(3) + "abc" + std::string(100, '!') + "\r\n\r\n");
  const std::string answers = liar.receive_all();
  CHECK(has(answers, "POST /p 3"));
  CHECK(has(answers, "HTTP/1.1 400"));
}

TEST_CASE("A client that wants to be asked before it sends a body is asked", "[tools][http]") {
  const auto server = serve();
  HttpClient client(server->port());
  client.send(post(5, "Expect: 100-continue\r\n"));
  CHECK(client.receive_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hello");
  CHECK(client.receive_answer().ends_with("POST /p 5"));
}

TEST_CASE("All bodies together stay within their limit", "[tools][http]") {
  HttpOptions options;
  options.most_body = 40'000;
  options.most_buffered = 60'000;
  std::vector<std::shared_ptr<HttpReply>> later;  // the server's thread only
  const auto server = serve(
      [&](const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
        if (request.path == "/p" && request.headers.count("x-later")) {
          later.push_back(std::move(reply));
        } else {
          for (auto& waiting : later) waiting->answer({});
          later.clear();
          echo(request, std::move(reply));
        }
      },
      options);
  HttpClient first(server->port());
  first.send(post(40'000, "X-Later: 1\r\n") + std::string(40'000, 'a'));
  while (server->counters().requests < 1) std::this_thread::sleep_for(1ms);
  const std::string answer = ask(server->port(), post(30'000) + std::string(30'000, 'b'));
  CHECK(status_of(answer) == 503);
  CHECK(has(answer, "Retry-After: "));
  CHECK(status_of(ask(server->port(), post(20'000) + std::string(20'000, 'b'))) == 200);
  CHECK(status_of(first.receive_answer()) == 200);
  CHECK(status_of(ask(server->port(), post(40'000) + std::string(40'000, 'b'))) == 200);
}

TEST_CASE("One connection too many is told so", "[tools][http]") {
  HttpOptions options;
  options.most_connections = 3;
  const auto server = serve(echo, options);
  std::vector<HttpClient> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(server->port());
    clients.back().send(get("/"));
    CHECK(status_of(clients.back().receive_answer()) == 200);
  }
  CHECK(server->counters().connections == 3);
  HttpClient extra(server->port());
  extra.send(get("/"));
  const std::string answer = extra.receive_all();
  CHECK(status_of(answer) == 503);
  CHECK(has(answer, "Retry-After: "));
  clients.pop_back();
  while (server->counters().connections == 3) std::this_thread::sleep_for(1ms);
  CHECK(status_of(ask(server->port(), get("/"))) == 200);
}

TEST_CASE("One address does not get all connections", "[tools][http]") {
  HttpOptions options;
  options.most_per_address = 2;
  const auto open_three = [&](const HttpServer& server) {
    std::vector<HttpClient> clients;
    for (int i = 0; i < 3; ++i) {
      clients.emplace_back(server.port());
      clients.back().send(get("/"));
      CHECK(status_of(clients.back().receive_answer()) ==
            (i < 2 || !options.limit_loopback ? 200 : 503));
    }
  };
  open_three(*serve(echo, options));  // this machine may
  options.limit_loopback = true;
  const auto server = serve(echo, options);
  open_three(*server);
  while (server->counters().connections > 0) std::this_thread::sleep_for(1ms);
  open_three(*server);  // those that left are not counted
}

TEST_CASE("Who is not let in keeps no connection", "[tools][http]") {
  for (const int status : {401, 403, 421, 429}) {
    const auto server = serve([&](const HttpRequest&, std::shared_ptr<HttpReply> reply) {
      reply->answer({status, "text/plain", "no", {}});
    });
    HttpClient client(server->port());
    client.send(get("/"));
    const std::string answer = client.receive_all();
    CHECK(status_of(answer) == status);
    CHECK(has(answer, "Connection: close"));
    CHECK(client.ended());
  }
}

TEST_CASE("Clients that are too slow are cut", "[tools][http]") {
  HttpOptions options;
  options.patience = 100ms;
  options.idle = 100ms;
  const auto server = serve(
      [](const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
        if (request.path != "/large") return echo(request, std::move(reply));
        reply->answer({200, "text/plain", std::string(64 << 20, 'x'), {}});
      },
      options);
  for (const std::string& start : {std::string(), std::string("GE"), get("/").substr(0, 30),
                                   post(10) + "abc", get("/", "Transfer-Encoding: chunked\r\n"),
                                   get("/")}) {  // the last one: idle after an answer
    INFO(start);
    HttpClient client(server->port());
    client.send(start);
    client.receive_all();
    CHECK(client.ended());
  }
  HttpClient drip(server->port());  // a byte now and then does not help
  for (int i = 0; i < 1000 && drip.send("G"); ++i) std::this_thread::sleep_for(10ms);
  drip.receive_all();
  CHECK(drip.ended());
  HttpClient reader(server->port());  // asks for much and takes nothing
  reader.send(get("/large"));
  while (server->counters().requests < 2) std::this_thread::sleep_for(1ms);
  while (server->counters().connections > 0) std::this_thread::sleep_for(5ms);
  CHECK(reader.receive_all().size() < (64 << 20));
}

TEST_CASE("Answers may come later, from another thread, or not at all", "[tools][http]") {
  HttpOptions options;
  options.answer_within = 200ms;
  std::vector<std::shared_ptr<HttpReply>> kept;
  std::vector<std::thread> threads;
  const auto server = serve(
      [&](const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
        if (request.path == "/later") {
          threads.emplace_back([reply] {
            std::this_thread::sleep_for(20ms);
            reply->answer({201, "text/plain", "later", {}});
            reply->answer({200, "text/plain", "twice", {}});
          });
        } else if (request.path == "/kept") {
          kept.push_back(reply);
        } else if (request.path == "/thrown") {
          throw std::runtime_error("handler");
        }
      },
      options);
  HttpClient client(server->port());
  client.send(get("/later"));
  CHECK(client.receive_answer().ends_with("later"));
  client.send(get("/dropped"));
  CHECK(status_of(client.receive_answer()) == 500);
  client.send(get("/thrown"));
  CHECK(status_of(client.receive_answer()) == 500);
  client.send(get("/kept"));
  CHECK(status_of(client.receive_answer()) == 504);
  client.send(get("/kept"));
  while (server->counters().requests < 5) std::this_thread::sleep_for(1ms);
  client.close();
  server->stop();
  for (auto& reply : kept) reply->answer({});  // nobody listens any more
  for (auto& thread : threads) thread.join();
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

TEST_CASE("A stream is pulled until it ends", "[tools][http]") {
  std::atomic<int> pulls = 0;
  const auto server = serve([&](const HttpRequest&, std::shared_ptr<HttpReply> reply) {
    HttpStream stream{"text/event-stream", 1ms, {}, {{"X-More", "1"}}};
    stream.next = [&, n = 0]() mutable -> std::optional<std::string> {
      ++pulls;
      if (++n % 2 == 0) return "";
      if (n > 6) return std::nullopt;
      return "data: " + std::to_string(n) + "\n\n";
    };
    reply->stream(std::move(stream));
  });
  HttpClient client(server->port());
  client.send(get("/"));
  const std::string all = client.receive_all();
  CHECK(has(all, "Content-Type: text/event-stream\r\n"));
  CHECK(has(all, "X-More: 1\r\n"));
  CHECK_FALSE(has(all, "Content-Length"));
  CHECK(all.ends_with("\r\n\r\ndata: 1\n\ndata: 3\n\ndata: 5\n\n"));
  CHECK(pulls == 7);
  CHECK(ask(server->port(), "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n").ends_with("\r\n\r\n"));
  CHECK(pulls == 7);
}

TEST_CASE("A stream ends with its client, and waits for one that does not read", "[tools][http]") {
  std::atomic<int> pulls = 0;
  const auto token = std::make_shared<int>(0);
  const auto server = serve([&](const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
    const bool silent = request.path == "/silent";
    reply->stream({"video/x",
                   1ms,
                   [&, silent, token]() -> std::optional<std::string> {
                     ++pulls;
                     return silent ? "" : std::string(1 << 20, 'x');
                   },
                   {}});
  });
  HttpClient silent(server->port());
  silent.send(get("/silent"));
  silent.receive_until("\r\n\r\n");
  while (pulls < 2) std::this_thread::sleep_for(1ms);
  silent.close();
  while (server->counters().connections > 0) std::this_thread::sleep_for(1ms);

  pulls = 0;
  HttpClient slow(server->port());
  slow.send(get("/full"));
  slow.receive_until("\r\n\r\n");
  std::this_thread::sleep_for(200ms);
  CHECK(pulls < 40);  // the system's buffers take some megabytes, then it waits
  for (int i = 0; i < 2000; ++i) slow.receive();
  CHECK(pulls > 1);
  slow.close();
  while (server->counters().connections > 0) std::this_thread::sleep_for(1ms);
  CHECK(token.use_count() == 1);  // no stream has kept it
}

TEST_CASE("Stopping ends all at once", "[tools][http]") {
  const auto server = serve([&](const HttpRequest&, std::shared_ptr<HttpReply> reply) {
    reply->stream({"text/event-stream", 1ms, []() { return std::string("data: x\n\n"); }, {}});
  });
  HttpClient streaming(server->port()), half(server->port());
  streaming.send(get("/"));
  half.send("GET /");
  streaming.receive_until("data: x");
  server->stop();
  streaming.receive_all();
  CHECK(streaming.ended());
  half.receive_all();
  CHECK(half.ended());
  CHECK_FALSE(HttpClient(server->port()).connected());
  server->stop();
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
