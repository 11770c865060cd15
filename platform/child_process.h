// Runs a program without a shell, with bounded time and a bounded record of what it says.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "platform/status.h"

namespace engram {

struct ChildRequest {
  std::vector<std::string> arguments;  // the program first; looked up in PATH if it has no slash
  int seconds = 60;                    // then it is killed
  bool with_errors = false;            // record standard error too, else it goes nowhere
  int hand_over = -1;                  // a descriptor that the child finds as kHandedOver
  // Called with every line of standard output while the child runs.
  std::function<void(const std::string& line)> on_line = {};
  const std::atomic<bool>* stop = nullptr;  // becomes true: the child is killed
};
inline constexpr int kHandedOver = 3;

struct ChildOutcome {
  bool timed_out = false;
  bool stopped = false;
  int signal = 0;      // that ended it; 0: it ended by itself
  int exit_code = 0;   // 127: the program could not be started
  std::string output;  // the last 64 KiB
};

// io_failure: no process or pipe could be made.
Result<ChildOutcome> run_child(const ChildRequest& request);

// In a child of our own: it is killed when the thread that started it ends, also if that was killed
// itself. Not for a stranger's program: dpkg must not end in the middle.
void end_with_parent();

// A failure in a child of ours, for its parent: "4 sentence", in one line.
std::string failure_line(const Status& failure);
// In the parent; internal: it is no such line.
Status failure_of(const std::string& line);

// In the child: at most `value` of an RLIMIT_... resource from now on; best effort.
void limit_this_process(int resource, std::int64_t value);

}  // namespace engram
