// How many connections each remote address has. No client may take all of them.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <map>

namespace engram {

// An IPv4 address as a socket of IPv6 tells it counts as what it is.
inline boost::asio::ip::address plain_address(const boost::asio::ip::address& address) {
  namespace ip = boost::asio::ip;
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return ip::make_address_v4(ip::v4_mapped, address.to_v6());
}

// Of plain addresses. Holds no more entries than there are connections.
class PeerCounts {
 public:
  using Address = boost::asio::ip::address;

  int of(const Address& peer) const {
    const auto found = counts_.find(peer);
    return found == counts_.end() ? 0 : found->second;
  }
  void enter(const Address& peer) { ++counts_[peer]; }
  void leave(const Address& peer) {
    const auto found = counts_.find(peer);
    if (found != counts_.end() && --found->second == 0) counts_.erase(found);
  }
  std::size_t addresses() const { return counts_.size(); }

 private:
  std::map<Address, int> counts_;
};

}  // namespace engram
