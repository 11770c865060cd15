#include "tools/web/http_peers.h"

#include "tests/support/catch.h"

namespace engram {
namespace {

boost::asio::ip::address at(const char* text) {
  return plain_address(boost::asio::ip::make_address(text));
}

}  // namespace

TEST_CASE("Connections are counted by address, and forgotten", "[tools][http]") {
  PeerCounts peers;
  for (int i = 0; i < 3; ++i) peers.enter(at("192.168.1.5"));
  peers.enter(at("192.168.1.6"));
  peers.enter(at("fe80::1"));
  CHECK(peers.of(at("192.168.1.5")) == 3);
  CHECK(peers.of(at("192.168.1.6")) == 1);
  CHECK(peers.of(at("192.168.1.7")) == 0);
  CHECK(peers.addresses() == 3);
  for (int i = 0; i < 3; ++i) peers.leave(at("192.168.1.5"));
  CHECK(peers.of(at("192.168.1.5")) == 0);
  CHECK(peers.addresses() == 2);
  peers.leave(at("192.168.1.7"));
  CHECK(peers.addresses() == 2);
}

TEST_CASE("IPv4 within IPv6 is the same address", "[tools][http]") {
  PeerCounts peers;
  peers.enter(at("::ffff:192.168.1.5"));
  peers.enter(at("192.168.1.5"));
  CHECK(peers.of(at("192.168.1.5")) == 2);
  CHECK(at("::ffff:127.0.0.1").is_loopback());
  CHECK(at("::1").is_loopback());
  CHECK_FALSE(at("::ffff:192.168.1.5").is_loopback());
}

}  // namespace engram
