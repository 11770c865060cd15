// The parts of a request that strangers write and we take apart ourselves: targets, queries, cookies,
// hosts. Pure functions over text; anything that is not exactly right is refused.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace engram {

// "%41" becomes "A" and, in a query, "+" a space. nullopt: a bad escape, a control character, or the
// result is not UTF-8.
enum class PlusMeans { plus, space };
std::optional<std::string> percent_decode(std::string_view text, PlusMeans plus);

// name=value&name=value, decoded. nullopt as above, or a name stands twice: which one counts would be
// a guess.
std::optional<std::map<std::string, std::string>> parse_query(std::string_view text);

struct HttpTarget {
  std::string path;  // begins with "/"; decoded, so one with %2F in a name is not told apart
  std::map<std::string, std::string> query;
  std::string authority;  // of a target in absolute form, else empty
};
// "/path?query" or "http://host/path?query". nullopt: anything else.
std::optional<HttpTarget> parse_target(std::string_view text);

// The value of a cookie in a Cookie header; the first, if there are several. nullopt: not there.
std::optional<std::string> find_cookie(std::string_view header, std::string_view name);

// "name", "name:port", "[::1]:port" in lower case, brackets kept, the last dot of a name dropped.
struct HostPort {
  std::string host;
  std::string port;  // digits; empty where none was given
};
std::optional<HostPort> parse_host(std::string_view text);

bool is_ip_literal(const std::string& host);  // as HostPort has it: "127.0.0.1", "[::1]"

std::string lower_case(std::string_view text);  // ASCII only, whatever the locale

}  // namespace engram
