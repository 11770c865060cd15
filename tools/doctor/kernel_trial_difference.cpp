// How far a device's result is from the CPU's.
#include <cmath>
#include <cstring>

#include "tools/doctor/kernel_trial_cases.h"

namespace engram {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

// The largest error, relative to the largest element; what is not a number differs without end.
class Errors {
 public:
  void add(const float* wanted, const float* got, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      largest_ = std::max(largest_, std::fabs(double{wanted[i]}));
      const double error = std::fabs(double{wanted[i]} - got[i]);
      if (!(error <= worst_)) worst_ = std::isnan(error) ? kEndless : error;
    }
  }
  double relative() const { return largest_ > 0 ? worst_ / largest_ : worst_; }

 private:
  double largest_ = 0, worst_ = 0;
};

bool same_bits(const float* a, const float* b, std::size_t count) {
  return std::memcmp(a, b, sizeof(float) * count) == 0;
}

}  // namespace

double trial_difference(const TrialFloats& wanted, const TrialFloats& got) {
  if (wanted.size() != got.size()) return kEndless;
  if (same_bits(wanted.data(), got.data(), wanted.size())) return 0;
  Errors errors;
  errors.add(wanted.data(), got.data(), wanted.size());
  return errors.relative();
}

double factor_difference(int units, const TrialFloats& wanted, const TrialFloats& got) {
  const auto m = std::size_t(units);
  if (wanted.size() != m * m + m || got.size() != wanted.size()) return kEndless;
  Errors of_u;
  for (std::size_t r = 0; r < m; ++r) {
    const float *ours = wanted.data() + r * m, *theirs = got.data() + r * m;
    if (!same_bits(ours, theirs, r)) return kEndless;
    of_u.add(ours + r, theirs + r, m - r);
  }
  return same_bits(wanted.data() + m * m, got.data() + m * m, m) ? of_u.relative() : kEndless;
}

}  // namespace engram
