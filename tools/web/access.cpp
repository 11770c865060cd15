#include "tools/web/access.h"

#include <unistd.h>

#include <memory>
#include <span>

#include <nlohmann/json.hpp>

#include "platform/hash.h"
#include "tools/console/terminal.h"
#include "tools/web/http_text.h"

namespace engram {
namespace {

using Kind = AccessDecision::Kind;

std::string header(const HttpRequest& request, const char* name) {
  const auto found = request.headers.find(name);
  return found == request.headers.end() ? "" : found->second;
}

AccessDecision refuse(int status, std::string why) {
  return {Kind::refuse, status, std::move(why), false};
}

bool names_us(const HostPort& host, const AccessRules& rules) {
  return rules.hosts.count(host.host) > 0 || (rules.any_ip && is_ip_literal(host.host));
}

// Same host and port as the request went to. The port of Host counts, not that of our socket: between
// them may be an ssh tunnel or a proxy.
bool is_our_origin(const std::string& origin, const HostPort& ours) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!origin.starts_with(scheme)) continue;
    const auto host = parse_host(std::string_view(origin).substr(scheme.size()));
    return host && host->host == ours.host && host->port == ours.port;
  }
  return false;  // also "null"
}

// "" unless the page of a stranger could have sent this.
std::string foreign_page(const HttpRequest& request, const HostPort& host) {
  const bool changes = request.method != "GET";
  const auto origin = request.headers.find("origin");
  if (origin != request.headers.end()) {
    return is_our_origin(origin->second, host) ? "" : "The page that asks is not ours.";
  }
  if (changes && header(request, "x-engram") != "1") {
    return "A program that changes something sends the header X-Engram: 1.";
  }
  // Browsers say where a request comes from; a link to the page that the user follows is fine.
  const std::string site = header(request, "sec-fetch-site");
  const bool foreign = site == "cross-site" || site == "same-site";
  const bool followed =
      !changes && request.path == "/" && header(request, "sec-fetch-mode") == "navigate";
  if (foreign && !followed) {
    return "The page that asks is not ours.";
  }
  return "";
}

AccessDecision check_token(const HttpRequest& request, const AccessRules& rules) {
  const auto given = request.query.find("token");
  const bool has_token = given != request.query.end();
  if (has_token && request.method == "GET" && request.path == "/" &&
      same_text(given->second, rules.token)) {
    return {Kind::welcome, 303, "", false};  // also with a cookie: the token leaves the address
  }
  const auto cookie = find_cookie(header(request, "cookie"), rules.cookie);
  if (cookie && same_text(*cookie, rules.token)) return {Kind::allow, 0, "", false};
  const std::string bearer = header(request, "authorization");
  const bool has_bearer = lower_case(bearer.substr(0, 7)) == "bearer ";
  if (has_bearer && same_text(bearer.substr(7), rules.token)) return {Kind::allow, 0, "", false};
  AccessDecision decision = refuse(
      401,
      "A token is needed. Open the address with ?token= that the program printed at its start.");
  decision.wrong_token = cookie || has_bearer || has_token;
  return decision;
}

HttpResponse refusal(int status, const std::string& why) {
  const nlohmann::ordered_json body = {{"error", why}, {"code", status}};
  HttpResponse response{status, "application/json", body.dump() + "\n", {}};
  if (status == 401) response.headers["WWW-Authenticate"] = "Bearer";
  if (status == 429) response.headers["Retry-After"] = "1";
  return response;
}

// The same for a person: no script and no style, so that the policy of content stays as strict.
HttpResponse refusal_page(int status, const std::string& why) {
  HttpResponse response = refusal(status, why);
  std::string help;
  if (status == 401) {
    help =
        "<p>Open the address with <code>?token=</code> that the program printed at its start, or "
        "scan "
        "its code with a phone. Of a service: <code>sudo engram service token</code> prints the "
        "token; the address is this one with <code>/?token=</code> and the token behind it.</p>";
  }
  response.type = "text/html; charset=utf-8";
  response.body =
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\">"
      "<meta name=\"color-scheme\" content=\"light dark\"><title>Engram</title></head>"
      "<body><h1>Engram</h1><p>" +
      why + "</p>" + help + "</body></html>\n";
  return response;
}

// A browser that somebody sits before asks for the page itself.
bool is_for_a_person(const HttpRequest& request) {
  return request.method == "GET" && request.path == "/" &&
         header(request, "accept").find("text/html") != std::string::npos;
}

HttpResponse welcome(const AccessRules& rules) {
  HttpResponse response{303, "text/plain", "", {}};
  response.headers["Location"] = "/";
  response.headers["Set-Cookie"] =
      // Not Strict: browsers leave that one out behind our 303 where the link was on another site.
      rules.cookie + "=" + rules.token + "; Path=/; HttpOnly; SameSite=Lax";
  return response;
}

}  // namespace

Status check_host_name(const std::string& name) {
  const auto host = parse_host(name);
  if (host && host->port.empty() && name.size() <= 253) return {};
  return Status(Code::invalid_argument,
                "--host: \"" + printable(name) +
                    "\" is no name of a host, such as bench.example, without http:// and without a "
                    "port");
}

AccessRules access_rules(const WebAddress& address, const std::string& token,
                         const std::set<std::string>& more_hosts) {
  AccessRules rules;
  rules.hosts = {"localhost", "127.0.0.1", "[::1]", address_in_url(address.address)};
  for (const std::string& name : more_hosts) {
    if (const auto host = parse_host(name)) rules.hosts.insert(host->host);
  }
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0') {
    const std::string whole = lower_case(name);
    rules.hosts.insert(whole);
    rules.hosts.insert(whole.substr(0, whole.find('.')));
    rules.hosts.insert(whole.substr(0, whole.find('.')) + ".local");
  }
  rules.any_ip = address.is_everywhere();
  if (!address.is_loopback()) rules.token = token;
  // Cookies know no ports: two programs on one machine would overwrite each other's. Where any port
  // will do, it is not known yet.
  const std::string mark = sha256_hex(std::as_bytes(std::span(rules.token))).substr(0, 16);
  rules.cookie = "engram_" + (address.port != 0 ? std::to_string(address.port) : mark);
  return rules;
}

AccessDecision decide(const HttpRequest& request, const AccessRules& rules) {
  if (request.path == "/health" && request.method == "GET") return {Kind::allow, 0, "", false};
  const auto host = parse_host(header(request, "host"));
  if (!host || !names_us(*host, rules)) {
    return refuse(421,
                  "This server is not known by that name. `--host NAME` at its start, or `host = "
                  "NAME` in camera.conf, allows it.");
  }
  if (std::string why = foreign_page(request, *host); !why.empty()) {
    return refuse(403, std::move(why));
  }
  if (rules.token.empty()) return {Kind::allow, 0, "", false};
  return check_token(request, rules);
}

bool TokenBudget::take(Time now) {
  if (now - second_ >= std::chrono::seconds(1)) {
    second_ = now;
    taken_ = 0;
  }
  return taken_++ < kPerSecond;
}

HttpHandler guard(AccessRules rules, HttpHandler handler) {
  return [rules = std::move(rules), handler = std::move(handler),
          budget = std::make_shared<TokenBudget>()](const HttpRequest& request,
                                                    std::shared_ptr<HttpReply> reply) {
    const AccessDecision decision = decide(request, rules);
    if (decision.kind == Kind::allow) return handler(request, std::move(reply));
    if (decision.kind == Kind::welcome) return reply->answer(welcome(rules));
    const auto answer = is_for_a_person(request) ? refusal_page : refusal;
    if (decision.wrong_token && !budget->take(std::chrono::steady_clock::now())) {
      return reply->answer(answer(429, "Too many wrong tokens. Wait a second."));
    }
    reply->answer(answer(decision.status, decision.why));
  };
}

std::map<std::string, std::string> security_headers() {
  return {
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
       "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cache-Control", "no-store"},
  };
}

}  // namespace engram
