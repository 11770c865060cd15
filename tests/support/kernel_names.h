// Which kernels the emulator ran, by the names that budget.json has for them.
#pragma once

#include <set>
#include <string>

namespace engram::test {

// "score.dot_rows<1, 1>" of a kernel's address: from the symbols of this program, which say the
// file too. Empty: not in there.
std::string kernel_name(const void* kernel);

// Watches the launches of the emulator as long as it lives.
class WatchedLaunches {
 public:
  WatchedLaunches();
  ~WatchedLaunches();
  WatchedLaunches(const WatchedLaunches&) = delete;
  WatchedLaunches& operator=(const WatchedLaunches&) = delete;

  std::set<std::string> names() const;
  double threads() const;  // that ran, all together
};

}  // namespace engram::test
