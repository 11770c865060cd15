// A bar with rate and time left, for everything that takes over a second.
//
//   learn  ━━━━━━━━━━━━╸───────  743/2929  41 img/s  53 s left
//
// On stderr, and only if that is a terminal (no dumb one): logs and pipes stay clean. It appears after half a
// second, repaints itself ten times a second from its own thread (so the time runs on during one
// long step), and wipes itself away at the end; what remains to be said is the command's.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace engram {

struct ProgressState {
  std::string what;  // "learn"
  std::string unit;  // "img"; empty: no rate
  std::int64_t done = 0;
  std::int64_t total = 0;  // 0: nobody knows; shows the time spent
  double seconds = 0;
  std::string tail = {};  // instead of counts and time left, where somebody knows better
};

// One line of at most `columns`, without colour.
std::string render_progress(const ProgressState& state, int columns);
std::string duration_text(double seconds);  // "0.31 s", "12 s", "3 min 05 s", "2 h 10 min"

class Progress {
 public:
  // total 0: unknown. Shows nothing when !enabled or when stderr is no such terminal.
  Progress(bool enabled, std::string what, std::int64_t total = 0, std::string unit = "");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::int64_t count = 1) { done_ += count; }
  void expect(std::int64_t total);  // where it is known only when the work has begun
  void rename(std::string what);    // what stands before the bar
  void tell(std::string tail);      // what stands behind it
  // Calls `say`, which may print, while no bar is on the screen.
  void without_bar(const std::function<void()>& say);
  // Wipes the bar; called by the destructor. Print to the terminal only after this, or in
  // without_bar().
  void finish();
  double seconds() const;

 private:
  void repaint_until_finished();
  void wipe();  // needs mutex_

  ProgressState state_;
  std::atomic<std::int64_t> done_ = 0;
  double start_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool finished_ = false;
  bool painted_ = false;
  std::thread painter_;
};

}  // namespace engram
