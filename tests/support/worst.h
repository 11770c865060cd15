// The largest error that a test has seen. std::max(worst, error) drops a NaN, and the comparisons that
// take one forget it at the next number: an output that was never written, NaN in the emulator's memory,
// would pass.
#pragma once

#include <cmath>
#include <limits>

namespace engram::test {

class Worst {
 public:
  // NaN counts as infinity; the absolute value is the caller's.
  void see(double error) {
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    if (error > value_) value_ = error;
  }
  double value() const { return value_; }

 private:
  double value_ = 0;
};

}  // namespace engram::test
