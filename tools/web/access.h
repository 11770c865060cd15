// Who may talk to our HTTP server.
//
// On loopback everybody on this machine may. On any other address a token is needed: once in the
// address of the page (`/?token=...`, which becomes a cookie and disappears), or by programs as
// `Authorization: Bearer ...`. Everywhere:
//   Host must name us, or a stranger's page could reach us by a name of its own that leads here (DNS
//   rebinding); a page of another origin can neither change anything nor read anything: what changes
//   needs our own Origin, or none together with `X-Engram: 1`, which no form can send.
// /health alone is open to whoever can connect.
#pragma once

#include <chrono>
#include <set>
#include <string>

#include "tools/web/http_server.h"
#include "tools/web/web_address.h"

namespace engram {

struct AccessRules {
  std::set<std::string> hosts;  // lower case, without port; "[::1]" in brackets
  bool any_ip = false;  // bound to all addresses: each of them is ours, whoever gave it to us
  std::string token;    // empty: none is needed
  std::string cookie = "engram";  // its name; another for each program on this machine
};
// For a server there: names of this machine, and `more_hosts`. `token` is needed unless it is on
// loopback; it is for page_urls() with the port that the server got.
AccessRules access_rules(const WebAddress& address, const std::string& token,
                         const std::set<std::string>& more_hosts = {});

// Whether `name` can be in `more_hosts`: a host's name or address alone, without http:// and port.
Status check_host_name(const std::string& name);

struct AccessDecision {
  enum class Kind { allow, welcome, refuse };  // welcome: set the cookie, go to / without the token
  Kind kind = Kind::refuse;
  int status = 0;  // of a refusal
  std::string why;
  bool wrong_token = false;
};
AccessDecision decide(const HttpRequest& request, const AccessRules& rules);

// Wrong tokens, of all clients together: so many a second are told 401, the rest 429. The right one is
// taken at all times, so nobody can lock its owner out; 128 bits are not guessed at any speed.
class TokenBudget {
 public:
  using Time = std::chrono::steady_clock::time_point;
  bool take(Time now);

 private:
  static constexpr int kPerSecond = 5;
  Time second_{};
  int taken_ = 0;
};

// The handler behind the rules.
HttpHandler guard(AccessRules rules, HttpHandler handler);

// For HttpOptions::headers: content security policy, no sniffing, no referrer, no framing, no cache.
std::map<std::string, std::string> security_headers();

}  // namespace engram
