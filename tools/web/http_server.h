// A small HTTP/1.1 server for one bench: hard limits, one thread, no surprises. Boost.Beast inside.
//
// Limits, whatever a client does: header 8 KB, body 8 MB and never more than `most_buffered` over all
// connections, 32 connections (the next is told 503 and closed), 10 s to send a request, 10 s without
// taking a byte of an answer, 60 s idle between requests.
//
// A handler runs on the server's thread and must not block: what takes time is done elsewhere and
// answered by Reply::later. Streams are pulled: the server asks for the next piece every `period`, only
// when the client has taken the last one, so a slow client misses pictures and costs no memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "platform/status.h"

namespace engram {

struct HttpRequest {
  std::string method, path;                    // path without query, percent-decoded, valid UTF-8
  std::map<std::string, std::string> query;    // percent-decoded
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  bool from_loopback = false;
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::map<std::string, std::string> headers;  // more of them
};

// The next piece of a stream: nothing yet (""), something, or nullopt: the stream ends.
struct HttpStream {
  std::string type;  // text/event-stream, multipart/x-mixed-replace;boundary=...
  std::chrono::milliseconds period{20};
  std::function<std::optional<std::string>()> next;  // on the server's thread; must not block
  std::map<std::string, std::string> headers;
};

// Exactly one of answer() and stream() is called once, from any thread; if none ever is, the client
// gets 504 after 60 s. Both do nothing once the client is gone.
class HttpReply {
 public:
  virtual ~HttpReply() = default;
  virtual void answer(HttpResponse response) = 0;
  virtual void stream(HttpStream stream) = 0;
};
using HttpHandler = std::function<void(const HttpRequest&, std::shared_ptr<HttpReply>)>;

struct HttpOptions {
  std::string address = "127.0.0.1";
  int port = 8477;  // 0: any free one
  int most_connections = 32;
  std::size_t most_header = 8 * 1024;
  std::size_t most_body = 8 * 1024 * 1024;
  std::size_t most_buffered = 12 * 1024 * 1024;  // bodies of all connections together
  std::chrono::milliseconds patience{10'000};
};

struct HttpCounters {
  std::uint64_t requests = 0, refused = 0;
  int connections = 0;
};

class HttpServer {
 public:
  // busy: the port is in use. invalid_argument: no such address here.
  static Result<std::unique_ptr<HttpServer>> start(const HttpOptions& options, HttpHandler handler);
  ~HttpServer();  // stop()
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  HttpCounters counters() const;
  void stop();  // closes everything at once

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace engram
