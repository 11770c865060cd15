// What keys mean to the camera app: which order follows, and what is being typed. No terminal here.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "tools/live/keys.h"
#include "tools/live/live.h"

namespace engram {

struct FaceAction {
  enum class Kind { none, order, pause, quit };
  Kind kind = Kind::none;
  Order order = {};
};

class TerminalInput {
 public:
  using Clock = std::chrono::steady_clock;
  // A held key repeats itself: the same one within kHeld is a burst, of one sample per kBetween.
  static constexpr std::chrono::milliseconds kHeld{700}, kBetween{200};

  FaceAction key(const Key& key, Clock::time_point now, const LiveState& state,
                 std::shared_ptr<const Sight> sight);

  const std::string& current() const { return current_; }  // the label that space teaches
  // "new class: mu"; empty: nothing is being typed.
  std::string prompt() const;
  const std::string& remark() const { return remark_; }  // about the last key; often empty
  bool shows_help() const { return shows_help_; }

 private:
  enum class Asked { nothing, new_class, right_label, last_label };
  FaceAction command(const std::string& key, Clock::time_point now, const LiveState& state,
                     std::shared_ptr<const Sight> sight);
  FaceAction typed(const Key& key, const LiveState& state);
  FaceAction learn(const std::string& label, std::shared_ptr<const Sight> sight, bool burst);
  FaceAction tap(const std::string& key, const std::string& label, Clock::time_point now,
                 std::shared_ptr<const Sight> sight);
  void ask(Asked what, std::shared_ptr<const Sight> sight);

  std::string current_, remark_, text_;
  Asked asked_ = Asked::nothing;
  std::shared_ptr<const Sight> asked_of_;  // what was seen when the key went down
  bool shows_help_ = false;

  std::string held_;  // the key that teaches, when it came last, and when it taught last
  Clock::time_point held_at_{}, taught_at_{};
};

}  // namespace engram
