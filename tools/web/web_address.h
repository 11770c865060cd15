// Where the HTTP server listens, as `--http` names it, and where a browser finds it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/status.h"

namespace engram {

struct WebAddress {
  std::string address = "127.0.0.1";  // IPv4 or IPv6, without brackets
  int port = 8477;                    // 0: any free one

  bool is_loopback() const;    // nobody but this machine
  bool is_everywhere() const;  // 0.0.0.0 or ::
};

// "8477", ":8477" and "localhost:8477" are on loopback; "0.0.0.0:8477", "[::1]:8477"; an address alone
// has port 8477. Names are refused: which address they mean may change.
Result<WebAddress> parse_web_address(std::string_view text);

std::string address_in_url(const std::string& address);  // IPv6 in brackets

// Addresses of the page, the most useful first: of the address itself or, where that is all of them, of
// each that this machine has in its networks, then loopback. With "?token=..." unless it is empty.
std::vector<std::string> page_urls(const WebAddress& address, const std::string& token);

}  // namespace engram
