// What the threads of the camera app leave for each other and for its faces. Everything here is quick:
// the looking thread never waits for the teaching one, which may be slow.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/readout.h"
#include "tools/live/live.h"

namespace engram {

class Board {
 public:
  static constexpr std::size_t kEvents = 50, kHistory = 200;

  // The newest sight. Readers wait for the next one; close() lets all of them go.
  void show(std::shared_ptr<const Sight> sight);
  std::shared_ptr<const Sight> sight() const;
  std::shared_ptr<const Sight> wait(std::uint64_t after, std::chrono::milliseconds patience) const;
  void close();

  // Held by the looking thread while it looks at a frame.
  class Looking {
   public:
    explicit Looking(Board& board) : board_(board) { board_.look(true); }
    ~Looking() { board_.look(false); }
    Looking(const Looking&) = delete;
    Looking& operator=(const Looking&) = delete;

   private:
    Board& board_;
  };
  // Learning begins best when a frame was just answered: until the next one nobody waits for the caches
  // and the memory that both need. While a frame is looked at, returns when that is done, or after
  // `patience`.
  void wait_for_answer(std::chrono::milliseconds patience) const;

  // What answers. `revision` grows with every one.
  struct Judge {
    std::shared_ptr<const Readout> readout;  // null: nothing was learned
    std::uint64_t revision = 0;
  };
  void publish(std::shared_ptr<const Readout> readout);
  Judge judge() const;

  // What is looked at.
  struct View {
    bool paused = false, mirror = false, throttled = false;
    Region region;
  };
  template <class Change>
  void change_view(Change change) {
    {
      const std::lock_guard lock(view_mutex_);
      change(view_);
    }
    tell_view();
  }
  View view() const;

  // The rest of the state; `change` must be quick.
  template <class Change>
  void change(Change change) {
    const std::lock_guard lock(state_mutex_);
    change(state_);
    ++changes_;
  }
  void event(std::string kind, std::string text, bool failed = false);
  // Rates alone: no change worth telling.
  void measured(double backbone_ms, double head_ms, double looks_per_second);
  LiveState state() const;
  std::uint64_t changes() const;

 private:
  void tell_view();  // into the state
  void look(bool begins);

  mutable std::mutex look_mutex_;
  mutable std::condition_variable looked_;
  bool looking_ = false;
  std::uint64_t looks_ = 0;

  mutable std::mutex sight_mutex_;
  mutable std::condition_variable shown_;
  std::shared_ptr<const Sight> sight_;
  bool closed_ = false;

  mutable std::mutex judge_mutex_;
  Judge judge_;

  mutable std::mutex view_mutex_;
  View view_;

  mutable std::mutex state_mutex_;
  LiveState state_;
  std::uint64_t changes_ = 0, events_ = 0;
};

}  // namespace engram
