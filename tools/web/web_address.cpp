#include "tools/web/web_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <charconv>

#include <fmt/format.h>

#include "tools/console/terminal.h"

namespace engram {
namespace {

Status refuse(std::string_view text, const char* why) {
  return Status(
      Code::invalid_argument,
      fmt::format("--http {}: {}. No server was started. Give a port, such as 8477, or an "
                  "address and a port: 127.0.0.1:8477 for this machine alone, "
                  "0.0.0.0:8477 for its networks, [::1]:8477.",
                  printable(text), why));
}

bool is_ipv4(const std::string& text) {
  in_addr ignored;
  return text.find('\0') == std::string::npos && ::inet_pton(AF_INET, text.c_str(), &ignored) == 1;
}

bool is_ipv6(const std::string& text) {
  in6_addr ignored;
  return text.find('\0') == std::string::npos && ::inet_pton(AF_INET6, text.c_str(), &ignored) == 1;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// IPv4 addresses of the networks that are up. (A phone that scans a code seldom has IPv6 to a bench.)
std::vector<std::string> network_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return addresses;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    const bool up = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
    if (!up || one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN] = {};
    const auto* ip = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    if (::inet_ntop(AF_INET, &ip->sin_addr, text, sizeof text)) addresses.emplace_back(text);
  }
  ::freeifaddrs(all);
  return addresses;
}

}  // namespace

bool WebAddress::is_loopback() const {
  return (is_ipv4(address) && address.starts_with("127.")) || address == "::1";
}

bool WebAddress::is_everywhere() const {
  return address == "0.0.0.0" || address == "::";
}

Result<WebAddress> parse_web_address(std::string_view text) {
  WebAddress result;
  std::string_view host = text, port;
  bool has_port = true;
  if (is_number(text)) {
    host = "";
    port = text;
  } else if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return refuse(text, "the bracket is not closed");
    host = text.substr(1, end - 1);
    if (!is_ipv6(std::string(host))) return refuse(text, "this is not an IPv6 address");
    has_port = end + 1 < text.size();
    if (has_port && text[end + 1] != ':') return refuse(text, "after the bracket comes a colon");
    if (has_port) port = text.substr(end + 2);
  } else if (is_ipv6(std::string(text))) {
    return refuse(text, "an IPv6 address stands in brackets");
  } else {
    const std::size_t colon = text.rfind(':');
    has_port = colon != std::string_view::npos;
    host = text.substr(0, colon);
    if (has_port) port = text.substr(colon + 1);
  }
  if (host.empty() && !has_port) return refuse(text, "there is no address and no port");
  if (host == "localhost" || host.empty()) host = "127.0.0.1";
  result.address = std::string(host);
  if (!is_ipv4(result.address) && !is_ipv6(result.address)) {
    return refuse(text, "this is not an address of numbers");
  }
  if (is_ipv6(result.address)) {  // the shortest way to write it, by which it is known
    in6_addr bytes;
    char shortest[INET6_ADDRSTRLEN] = {};
    ::inet_pton(AF_INET6, result.address.c_str(), &bytes);
    result.address = ::inet_ntop(AF_INET6, &bytes, shortest, sizeof shortest);
  }
  if (!has_port) return result;
  const auto parsed = std::from_chars(port.data(), port.data() + port.size(), result.port);
  const bool whole = is_number(port) && parsed.ec == std::errc{};
  if (!whole || result.port > 65535) return refuse(text, "a port is a number from 0 to 65535");
  return result;
}

std::string address_in_url(const std::string& address) {
  return is_ipv6(address) ? "[" + address + "]" : address;
}

std::vector<std::string> page_urls(const WebAddress& address, const std::string& token) {
  std::vector<std::string> addresses;
  if (address.is_everywhere()) addresses = network_addresses();
  addresses.push_back(address.is_everywhere() ? "127.0.0.1" : address.address);
  std::vector<std::string> urls;
  for (const std::string& one : addresses) {
    urls.push_back(fmt::format("http://{}:{}/{}{}", address_in_url(one), address.port,
                               token.empty() ? "" : "?token=", token));
  }
  return urls;
}

}  // namespace engram
