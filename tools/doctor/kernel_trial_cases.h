// The operands of kernel trials: one case is one operation on one shape.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernel_work.h"
#include "kernels/kernels.h"
#include "platform/buffer_allocator.h"
#include "platform/device_staging.h"
#include "platform/steady_time.h"
#include "tools/doctor/kernel_trials.h"

namespace engram {

// Operands lie in memory that the device reaches, as a learner's own do: no copy of theirs is
// measured. Pictures, features and answers of a program that lie elsewhere are copied by every call
// (kernels/staged_call.h), and that is in no figure here.
using TrialFloats = BufferVector<float>;

// Times the operation alone, by the wall, or if `device` measures, by the device itself.
class TrialClock {
 public:
  using Before = std::function<Status()>;

  explicit TrialClock(const DeviceStaging* device = nullptr, Before before = {})
      : device_(device), before_(std::move(before)) {}
  // Times the call when the same call has just been made, often enough to be long against the clock.
  static TrialClock warm(const DeviceStaging* device) {
    TrialClock clock(device);
    clock.is_warm_ = true;
    return clock;
  }

  template <class Call>
  Status operator()(const Call& call) const {
    if (before_) ENGRAM_TRY(before_());
    int calls = 1;
    if (is_warm_) {
      ENGRAM_TRY(measure(call, 1));
      constexpr double kLongEnough = 50e-6;
      calls = last_ < kLongEnough ? int(kLongEnough / std::max(last_, 1e-7)) + 1 : 1;
    }
    ENGRAM_TRY(measure(call, calls));
    shortest_ = std::min(shortest_, last_);
    return {};
  }
  double milliseconds() const { return 1e3 * shortest_; }  // of the shortest
  double last_seconds() const { return last_; }

 private:
  template <class Call>
  Status measure(const Call& call, int calls) const {
    const double start = seconds_now();
    double on_device = 0;
    for (int i = 0; i < calls; ++i) {
      ENGRAM_TRY(call());
      if (device_ != nullptr) on_device += device_->work_seconds();
    }
    last_ = (device_ != nullptr ? on_device : seconds_now() - start) / calls;
    return {};
  }

  const DeviceStaging* device_;
  Before before_;
  bool is_warm_ = false;
  mutable double last_ = 0;
  mutable double shortest_ = std::numeric_limits<double>::infinity();
};

// The largest difference, relative to the largest element of `wanted`; 0: the same bits.
double trial_difference(const TrialFloats& wanted, const TrialFloats& got);
// Of a GramView of `units` rows, with G's diagonal behind it: U's difference, relative to U. Without end
// if a bit of G is another one.
double factor_difference(int units, const TrialFloats& wanted, const TrialFloats& got);

struct TrialCase {
  std::string operation;
  std::string shape;
  OperationShape size;
  double tolerance;                                 // 0: whole numbers, the same bits
  std::function<bool(const Kernels& kernels)> has;  // the operation, and not the CPU's own
  // The operation on operands of its own, the same ones each time; the result as floats.
  std::function<Status(const Kernels& kernels, const TrialClock& clock, TrialFloats& result)> run;
  // Between the CPU's result and another.
  std::function<double(const TrialFloats& wanted, const TrialFloats& got)> difference =
      trial_difference;
  bool is_sequence = false;  // in one piece, which a device records
};
// Cases with the operands that they share, made when they are needed: in all they are large.
using TrialMaker = std::function<std::vector<TrialCase>()>;

inline constexpr double kSameBits = 0;

template <class Operation, class Run>
TrialCase trial_case(const char* name, Operation* Kernels::*operation, std::string shape,
                     const OperationShape& size, double tolerance, Run run) {
  return {name,
          std::move(shape),
          size,
          tolerance,
          [operation](const Kernels& kernels) {
            return kernels.*operation != nullptr && kernels.*operation != kCpuKernels.*operation;
          },
          std::move(run)};
}

// The picture of `preprocess`: as small as the learner, or a camera's.
struct TrialPicture {
  int width, height, resize, crop;
};
TrialPicture trial_picture(const OperationShape& shape);

// What every frame meets, and what is learned from it.
std::vector<TrialCase> frame_cases(const OperationShape& shape);
// All that a frame's features meet, as one piece of work that a device records and repeats.
TrialCase sequence_case(const OperationShape& shape);
// Of these, what takes another way where hidden units are not whole numbers.
std::vector<TrialCase> float_cases(OperationShape shape);
// Factors and solves, of G of this many hidden units.
std::vector<TrialCase> factor_cases(int units, int classes);
// A factor so large that the libraries take other ways than with a small one: is G untouched?
TrialCase large_factor_case(int units);
// Training of adapters, of `frames` rows that are `features` and `units` wide.
std::vector<TrialCase> training_cases(const OperationShape& shape);
// A vision transformer, of `frames` pictures of `tokens` rows, `features` wide in `heads` heads.
std::vector<TrialCase> transformer_cases(const OperationShape& shape);

// Of the self-test, one after the other (kernel_trial_shapes.cpp).
std::vector<TrialMaker> trial_makers(TrialSize size);

}  // namespace engram
