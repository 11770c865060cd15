// A small HTTP/1.1 server for one bench: hard limits, one thread, no surprises. Boost.Beast inside.
//
// Limits, whatever a client does: header 8 KB (431), body 8 MB (413) and never more than `most_buffered`
// over all connections but for bodies of 4 KB (503), 32 connections, of which a client on another machine gets 8 (the next is
// told 503 and closed), 10 s to send a header and for each megabyte of a body, 10 s without taking a byte
// of an answer, 60 s idle between requests; none after an answer that says no (401, 403, 421, 429).
//
// A handler runs on the server's thread and must not block: what takes time is done elsewhere and
// answered later, from any thread. Streams are pulled: the server asks for the next piece every
// `period`, only when the client has taken the last one, so a slow client misses pictures and costs no
// memory.
//
// What the server answers by itself: requests that are not HTTP/1.0 or 1.1 as the RFCs have it (400),
// methods other than those of HttpRequest (501, 405), Expect: 100-continue, and HEAD, which reaches the
// handler as GET and whose body is left away. An error of its own is {"error": ..., "code": <status>}.
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

// Valid during the call of the handler only.
struct HttpRequest {
  std::string method;  // GET, POST, PUT, PATCH, DELETE
  std::string
      path;  // begins with "/"; without query, percent-decoded, UTF-8, no control characters
  std::map<std::string, std::string> query;    // decoded in the same way; a name stands once
  std::map<std::string, std::string> headers;  // names in lower case; there is a host (HTTP/1.1)
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::map<std::string, std::string>
      headers;  // more of them; one with a control character is dropped
};

// The next piece of a stream: nothing yet (""), something, or nullopt: the stream ends.
struct HttpStream {
  std::string type;  // text/event-stream, multipart/x-mixed-replace;boundary=...
  std::chrono::milliseconds period{20};
  std::function<std::optional<std::string>()> next;  // on the server's thread; must not block
  std::map<std::string, std::string> headers;
};

// Exactly one of answer() and stream() is called once, from any thread; if none ever is, the client
// gets 504 after 60 s, or 500 when the last owner lets go of the reply. Both do nothing once the client
// is gone or the server has stopped.
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
  int most_per_address = 8;     // of them, by one remote address
  bool limit_loopback = false;  // to that number too: programs of this machine, and ssh tunnels
  std::size_t most_header = 8 * 1024;
  std::size_t most_body = 8 * 1024 * 1024;
  std::size_t most_buffered = 12 * 1024 * 1024;  // bodies of all connections together
  std::chrono::milliseconds patience{10'000};
  std::chrono::milliseconds idle{60'000};
  std::chrono::milliseconds answer_within{60'000};
  std::map<std::string, std::string> headers;  // of every answer, unless a response has its own
};

struct HttpCounters {
  std::uint64_t requests = 0;  // that reached the handler
  std::uint64_t refused = 0;   // that the server answered itself: bad, too large, too many
  int connections = 0;         // open now
};

class HttpServer {
 public:
  // busy: the port is in use. invalid_argument: no such address here, or a port that we may not have.
  static Result<std::unique_ptr<HttpServer>> start(const HttpOptions& options, HttpHandler handler);
  ~HttpServer();  // stop()
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  HttpCounters counters() const;
  void stop();  // closes everything at once; not from the handler or a stream

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace engram
