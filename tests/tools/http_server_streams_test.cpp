// Answers that come later or never end, and the end of the server.
#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/http_desk.h"

namespace engram {

using namespace test;
using namespace std::chrono_literals;

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

}  // namespace engram
