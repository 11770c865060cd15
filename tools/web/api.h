// What the page and other programs can ask of the camera app: JSON over HTTP, described in openapi.json.
//
//     GET  /api/state /api/events /video.mjpeg /frame.jpg     what it sees and knows
//     POST /api/learn /api/undo ...                           orders, answered when they are durable
//     GET  /api/export, POST /api/import                      the state as a file
//     GET  /health /metrics /api/openapi.json                 for machines
//
// No handler blocks: orders wait in Live's queue, files are written by a thread of their own. Errors are
// {"error": a sentence, "code": a word} with a fitting status. Who may ask is not decided here (access.h).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tools/live/live.h"
#include "tools/web/http_server.h"

namespace engram {

struct ApiRoute {
  const char* method;
  const char* path;
};

class Api {
 public:
  explicit Api(Live& live);  // which must live longer
  ~Api();                    // after the server has stopped; waits for the file under way
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  void handle(const HttpRequest& request, std::shared_ptr<HttpReply> reply);
  // For /metrics; before the first request.
  void tell_counters(std::function<HttpCounters()> counters);

  static std::vector<ApiRoute> routes();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace engram
