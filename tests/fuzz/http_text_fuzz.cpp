// What strangers send to the page's server, as far as we take it apart ourselves: refused, or exactly
// what it promises. The first line is a target, the second a host, the third cookies, the fourth what
// --http names.
#include "tests/fuzz/fuzz_target.h"
#include "tools/console/utf8.h"
#include "tools/web/http_text.h"
#include "tools/web/web_address.h"

using namespace engram;

namespace {

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    if (!point.valid || point.value < 0x20 || point.value == 0x7F) return false;
    text.remove_prefix(std::size_t(point.bytes));
  }
  return true;
}

std::string next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string line(text.substr(0, end));
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto target = parse_target(next_line(text))) {
    ENGRAM_CHECK(!target->path.empty() && is_plain_text(target->path));
    ENGRAM_CHECK(target->authority.empty() || parse_host(target->authority));
    for (const auto& [name, value] : target->query) {
      ENGRAM_CHECK(is_plain_text(name) && is_plain_text(value));
    }
  }
  if (const auto host = parse_host(next_line(text))) {
    const auto again = parse_host(host->port.empty() ? host->host : host->host + ":" + host->port);
    ENGRAM_CHECK(again && again->port == host->port);
    ENGRAM_CHECK(host->host.find_first_of(std::string_view("/@ \t\0", 5)) == std::string::npos);
  }
  const std::string cookies = next_line(text);
  if (const auto value = find_cookie(cookies, "engram_8477")) {
    ENGRAM_CHECK(value->find(';') == std::string::npos);
    ENGRAM_CHECK(cookies.find("engram_8477=" + *value) != std::string::npos);
  }
  const std::string http = next_line(text);
  if (const auto address = parse_web_address(http); address.ok()) {
    ENGRAM_CHECK(address->port >= 0 && address->port <= 65535);
    ENGRAM_CHECK(is_ip_literal(address_in_url(address->address)));
    const auto again =
        parse_web_address(address_in_url(address->address) + ":" + std::to_string(address->port));
    ENGRAM_CHECK(again.ok() && again->address == address->address);
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  return {
      "/a%20b/%C3%A9?x=1+2&y=%26&token=0123456789abcdef\nlocalhost:8477\na=1; "
      "engram_8477=abc\n8477",
      "http://[::1]:8477/?a=b\n[::1]:8477\nengram_8477=\n[::1]:8477",
      "/\n192.168.1.17\n\n0.0.0.0:8477",
      "/?a&b=&=c\nBench.Local.\nengram_8477=a=b;c\nlocalhost:0",
  };
}
