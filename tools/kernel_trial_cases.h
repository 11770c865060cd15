// The operands of kernel trials: one case is one operation on one shape.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernels.h"
#include "platform/buffer_allocator.h"
#include "tools/units.h"

namespace engram {

struct TrialShape {
  int frames;    // B
  int features;  // L
  int units;     // M
  int classes;   // K
};

// Operands lie where a learner's do, in memory that the device reaches: no copy is measured.
using TrialFloats = BufferVector<float>;

// Runs the operation alone, and keeps the shortest time.
class TrialClock {
 public:
  template <class Call>
  Status operator()(const Call& call) const {
    const double start = seconds_now();
    Status status = call();
    shortest_ = std::min(shortest_, seconds_now() - start);
    return status;
  }
  double milliseconds() const { return 1e3 * shortest_; }

 private:
  mutable double shortest_ = std::numeric_limits<double>::infinity();
};

struct TrialCase {
  std::string operation;
  std::string shape;
  double tolerance;                                 // 0: whole numbers, the same bits
  std::function<bool(const Kernels& kernels)> has;  // the operation, and not the CPU's own
  // The operation on operands of its own, the same ones each time; the result as floats.
  std::function<Status(const Kernels& kernels, const TrialClock& clock, TrialFloats& result)> run;
};

inline constexpr double kSameBits = 0;

template <class Operation, class Run>
TrialCase trial_case(const char* name, Operation* Kernels::*operation, std::string shape,
                     double tolerance, Run run) {
  return {name, std::move(shape), tolerance,
          [operation](const Kernels& kernels) {
            return kernels.*operation != nullptr && kernels.*operation != kCpuKernels.*operation;
          },
          std::move(run)};
}

// What every frame meets, and what is learned from it.
std::vector<TrialCase> frame_cases(const TrialShape& shape);
// Factors and solves, of G of this many hidden units.
std::vector<TrialCase> factor_cases(int units, int classes);

}  // namespace engram
