// What a face is shown all the time: pictures, answers and the state, made once for all who watch.
//
// Everything here runs on the server's thread. A picture is encoded and a state is written as JSON when
// the first watcher asks for it; the others get the same text.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "tools/live/live.h"
#include "tools/web/http_server.h"

namespace engram {

class Broadcast {
 public:
  explicit Broadcast(Live& live) : live_(live) {}  // which must live longer

  std::string state() const;  // JSON of LiveState, and of who answers
  // Server-sent events: `state` whenever it changed, `sight` at most 10 a second, `rates` every second.
  HttpStream events();
  HttpStream video();    // multipart JPEG, as fast as it is looked at and taken
  HttpResponse frame();  // the newest picture; its number in the header X-Frame

  // What a watcher was told of this frame, without its picture; null: too long ago.
  std::shared_ptr<const Sight> told(std::uint64_t frame) const;

 private:
  const std::string& latest_state();  // the same, made again only after a change
  void remember(const Sight& sight);
  // A JPEG of the sight's picture; empty: it could not be encoded.
  const std::string& picture(const Sight& sight);

  Live& live_;
  std::string state_;
  std::uint64_t state_changes_ = 0;
  std::string picture_;
  std::uint64_t picture_frame_ = 0;
  std::deque<std::shared_ptr<const Sight>> told_;
};

}  // namespace engram
