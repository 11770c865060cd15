// The operands of kernel trials: one case is one operation on one shape.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernels.h"

namespace engram {

struct TrialShape {
  int frames;    // B
  int features;  // L
  int units;     // M
  int classes;   // K
};

struct TrialCase {
  std::string operation;
  std::string shape;
  double tolerance;                                 // 0: whole numbers, the same bits
  std::function<bool(const Kernels& kernels)> has;  // the operation, and not the CPU's own
  // The operation on operands of its own, the same ones each time; the result as floats.
  std::function<Status(const Kernels& kernels, std::vector<float>& result)> run;
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
