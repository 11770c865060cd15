#include "tools/web/web_face.h"

#include <atomic>
#include <utility>

#include "tools/web/access.h"
#include "tools/web/api.h"
#include "tools/web/assets.h"
#include "tools/web/page_token.h"
#include "tools/web/qr_code.h"
#include "tools/web/web_address.h"

namespace engram {

struct WebFace::Parts {
  explicit Parts(Live& live) : api(live) {
    api.tell_counters([this] {
      const HttpServer* now = running;
      return now != nullptr ? now->counters() : HttpCounters();
    });
  }

  void handle(const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
    const Asset* asset = request.method == "GET" ? find_asset(request.path) : nullptr;
    if (asset != nullptr) {
      reply->answer(asset_response(*asset, request));
    } else {
      api.handle(request, std::move(reply));
    }
  }

  std::atomic<const HttpServer*> running = nullptr;  // null for the first requests
  Api api;
  bool is_open = false;                // to others than this machine
  std::unique_ptr<HttpServer> server;  // last: stops before the rest goes
};

WebFace::WebFace(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
WebFace::~WebFace() = default;

Result<std::unique_ptr<WebFace>> WebFace::start(Live& live, const std::string& address,
                                                const std::string& home,
                                                const std::vector<std::string>& hosts) {
  ENGRAM_ASSIGN(WebAddress where, parse_web_address(address));
  for (const std::string& host : hosts) ENGRAM_TRY(check_host_name(host));
  const PageToken token = where.is_loopback() ? PageToken() : kept_page_token(home);
  const AccessRules rules = access_rules(where, token.token, {hosts.begin(), hosts.end()});
  auto parts = std::make_unique<Parts>(live);
  HttpOptions options;
  options.address = where.address;
  options.port = where.port;
  options.headers = security_headers();
  ENGRAM_ASSIGN(parts->server,
                HttpServer::start(
                    options, guard(rules, [parts = parts.get()](const auto& request, auto reply) {
                      parts->handle(request, std::move(reply));
                    })));
  where.port = parts->server->port();
  parts->is_open = !where.is_loopback();
  parts->running = parts->server.get();
  std::unique_ptr<WebFace> face(new WebFace(std::move(parts)));
  face->urls_ = page_urls(where, rules.token);
  face->note_ = token.note;
  return face;
}

std::string WebFace::greeting(bool colour) const {
  std::string text;
  for (const std::string& url : urls_) text += "page  " + url + "\n";
  if (parts_->is_open) {
    if (const auto code = QrCode::encode(urls_[0]); code.ok())
      text += draw_qr(code.value(), colour);
  }
  return text;
}

}  // namespace engram
