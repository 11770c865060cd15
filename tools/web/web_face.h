// The camera app in a browser: server, access, page and API on one address, for `engram camera --http`.
//
//     request > access.h: who may ask > assets.h: the page, or api.h > Live
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/status.h"
#include "tools/live/live.h"

namespace engram {

class WebFace {
 public:
  // `address` as web_address.h has it; anything but loopback is opened with the token that is kept in
  // `home` only. `hosts`: names that this machine goes by beside its own. busy: the port is in use.
  static Result<std::unique_ptr<WebFace>> start(Live& live, const std::string& address,
                                                const std::string& home,
                                                const std::vector<std::string>& hosts = {});
  ~WebFace();  // stops the server; the session must still be there
  WebFace(const WebFace&) = delete;
  WebFace& operator=(const WebFace&) = delete;

  // Where the page is, the most useful first; with the token, where there is one.
  const std::vector<std::string>& urls() const { return urls_; }
  // Empty, or what is to be known of the token.
  const std::string& note() const { return note_; }
  // What is told at the start: the addresses and, where others may come in, a QR code of the first.
  std::string greeting(bool colour) const;

 private:
  struct Parts;
  explicit WebFace(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
  std::vector<std::string> urls_;
  std::string note_;
};

}  // namespace engram
