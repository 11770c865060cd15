// The page's HTTP server with a handler that answers how much it was sent, for http_memory_test.py.
// Prints the port, then serves until its standard input ends.
#include <cstdio>

#include "tools/web/http_server.h"

using namespace engram;

int main() {
  HttpOptions options;
  options.port = 0;
  auto server = HttpServer::start(options, [](const HttpRequest& request,
                                              std::shared_ptr<HttpReply> reply) {
    if (request.path == "/large") {
      return reply->answer({200, "text/plain", std::string(200'000, 'x'), {}});
    }
    if (request.path == "/stream") {
      return reply->stream(
          {"video/x", std::chrono::milliseconds(1), [] { return std::string(50'000, 'x'); }, {}});
    }
    reply->answer({200, "text/plain", std::to_string(request.body.size()), {}});
  });
  if (!server.ok()) {
    std::fprintf(stderr, "%s\n", server.status().what());
    return 1;
  }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const char* sanitized = " sanitized";
#else
  const char* sanitized = "";
#endif
  std::printf("%d%s\n", server.value()->port(), sanitized);
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return 0;
}
