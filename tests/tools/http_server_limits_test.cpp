// What clients may cost: headers, bodies, connections, patience.
#include <thread>
#include <vector>

#include "tests/support/http_desk.h"

namespace engram {

using namespace test;
using namespace std::chrono_literals;

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

}  // namespace engram
