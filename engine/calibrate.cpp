#include "engine/calibrate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "engine/feature_check.h"

namespace engram {
namespace {

constexpr int kFewestRows = 16;
constexpr double kQuantile = 0.999;  // of |f|: what is above is cut
constexpr double kLargestByte = 127;
constexpr double kLargestHidden = 31;
constexpr double kSpread =
    3.0;  // h reaches its largest value at this many standard deviations of p

// The power of sqrt(2) that is nearest.
double round_to_half_octave(double value) {
  return std::exp2(std::round(2.0 * std::log2(value)) / 2.0);
}

double quantile_of_magnitudes(MatrixView<const float> features) {
  std::vector<float> magnitudes;
  magnitudes.reserve(std::size_t(features.rows) * std::size_t(features.cols));
  for (int b = 0; b < features.rows; ++b) {
    for (int l = 0; l < features.cols; ++l) magnitudes.push_back(std::abs(features(b, l)));
  }
  const auto place = magnitudes.begin() + std::ptrdiff_t(kQuantile * double(magnitudes.size() - 1));
  std::nth_element(magnitudes.begin(), place, magnitudes.end());
  if (*place > 0) return *place;
  return *std::max_element(magnitudes.begin(), magnitudes.end());  // hardly any feature is not zero
}

}  // namespace

Result<Calibration> calibrate(MatrixView<const float> features) {
  if (features.rows < kFewestRows) {
    return Status(Code::invalid_argument,
                  fmt::format("{} pictures are too few to measure a backbone by; give at least {}.",
                              features.rows, kFewestRows));
  }
  ENGRAM_TRY(check_features(features, features.cols));
  const double large = quantile_of_magnitudes(features);
  if (!(large > 0)) {
    return Status(Code::bad_data, "All features of all pictures are zero: this output is no use.");
  }
  Calibration calibration;
  const double scale = round_to_half_octave(kLargestByte / large);
  calibration.feature_scale = float(scale);

  // p = sum of +-q has variance |q|^2: its standard deviation is the norm of q.
  double squares = 0;
  for (int b = 0; b < features.rows; ++b) {
    for (int l = 0; l < features.cols; ++l) {
      const double q =
          std::clamp(std::nearbyint(features(b, l) * scale), -kLargestByte, kLargestByte);
      squares += q * q;
    }
  }
  const double deviation = std::max(1.0, std::sqrt(squares / features.rows));
  const double gain = 65536.0 * kLargestHidden / (kSpread * deviation);
  calibration.hidden_mul =
      std::int32_t(std::clamp(std::nearbyint(round_to_half_octave(gain)), 1.0, 65536.0));
  return calibration;
}

}  // namespace engram
