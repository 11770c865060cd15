#include "tools/web/http_text.h"

#include <arpa/inet.h>

#include <algorithm>

#include "tools/console/utf8.h"

namespace engram {
namespace {

int hex_value(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

bool is_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_text(std::string_view text) {  // UTF-8 without control characters
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    if (!point.valid || point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0)) {
      return false;
    }
    text.remove_prefix(std::size_t(point.bytes));
  }
  return true;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The text before the first `mark`; `rest` becomes what follows it, or empty.
std::string_view take_until(std::string_view& rest, char mark) {
  const std::size_t at = rest.find(mark);
  const std::string_view first = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
  return first;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = char(letter - 'A' + 'a');
  }
  return lower;
}

std::optional<std::string> percent_decode(std::string_view text, PlusMeans plus) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      decoded += char(high * 16 + low);
      i += 2;
    } else {
      decoded += text[i] == '+' && plus == PlusMeans::space ? ' ' : text[i];
    }
  }
  if (!is_text(decoded)) return std::nullopt;
  return decoded;
}

std::optional<std::map<std::string, std::string>> parse_query(std::string_view text) {
  std::map<std::string, std::string> query;
  while (!text.empty()) {
    std::string_view value = take_until(text, '&');
    if (value.empty()) continue;
    const std::string_view name = take_until(value, '=');
    auto decoded_name = percent_decode(name, PlusMeans::space);
    auto decoded_value = percent_decode(value, PlusMeans::space);
    if (!decoded_name || !decoded_value) return std::nullopt;
    if (!query.emplace(std::move(*decoded_name), std::move(*decoded_value)).second) {
      return std::nullopt;
    }
  }
  return query;
}

std::optional<HttpTarget> parse_target(std::string_view text) {
  HttpTarget target;
  constexpr std::string_view kScheme = "http://";
  if (lower_case(text.substr(0, kScheme.size())) == kScheme) {
    text.remove_prefix(kScheme.size());
    const std::size_t end = std::min(text.find_first_of("/?"), text.size());
    target.authority = std::string(text.substr(0, end));
    if (!parse_host(target.authority)) return std::nullopt;  // also: a name and password before @
    text.remove_prefix(end);
  } else if (!text.starts_with('/')) {
    return std::nullopt;
  }
  if (text.find('#') != std::string_view::npos) return std::nullopt;  // a fragment is never sent
  const std::string_view path = take_until(text, '?');
  auto decoded = percent_decode(path.empty() ? "/" : path, PlusMeans::plus);
  auto query = parse_query(text);
  if (!decoded || !query) return std::nullopt;
  target.path = std::move(*decoded);
  target.query = std::move(*query);
  return target;
}

std::optional<std::string> find_cookie(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    std::string_view value = trim(take_until(header, ';'));
    if (value.find('=') == std::string_view::npos) continue;
    if (take_until(value, '=') == name) return std::string(value);
  }
  return std::nullopt;
}

std::optional<HostPort> parse_host(std::string_view text) {
  if (text.empty() || text.size() > 261) return std::nullopt;  // a name of 255, a colon, a port
  std::size_t end = text.find(':');
  if (text.front() == '[') {
    const std::size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) return std::nullopt;
    end = bracket + 1 == text.size() ? std::string_view::npos : bracket + 1;
    if (end != std::string_view::npos && text[end] != ':') return std::nullopt;
  }
  HostPort result{lower_case(text.substr(0, end)), {}};
  if (end != std::string_view::npos) result.port = std::string(text.substr(end + 1));
  if (result.port.size() > 5 || !is_digits(result.port)) return std::nullopt;
  if (result.host.front() == '[') {
    if (!is_ip_literal(result.host)) return std::nullopt;
    return result;
  }
  if (result.host.ends_with('.')) result.host.pop_back();
  const bool fine = std::all_of(result.host.begin(), result.host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  });
  const bool empty = result.host.empty() || result.host.ends_with('.');  // "..": no name either
  if (empty || !fine) return std::nullopt;
  return result;
}

bool is_ip_literal(const std::string& host) {
  in_addr four;
  in6_addr six;
  if (host.find('\0') != std::string::npos) return false;  // where inet_pton would stop to look
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    return ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &six) == 1;
  }
  return ::inet_pton(AF_INET, host.c_str(), &four) == 1;
}

}  // namespace engram
