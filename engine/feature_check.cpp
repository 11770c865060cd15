#include "engine/feature_check.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "platform/device.h"

namespace engram {

Status check_width(MatrixView<const float> features, int width) {
  if (features.cols == width) return {};
  return Status(Code::invalid_argument,
                fmt::format("Rows of {} features were given; this learner takes {}. Nothing was "
                            "changed.",
                            features.cols, width));
}

Status check_features(MatrixView<const float> features, int width) {
  ENGRAM_TRY(check_width(features, width));
  for (int b = 0; b < features.rows; ++b) {
    const float* row = features.row(b);
    for (int l = 0; l < width; ++l) {
      if (std::isfinite(row[l])) [[likely]]
        continue;
      return Status(Code::bad_data,
                    fmt::format("Feature {} of row {} is {}; features must be finite. Nothing was "
                                "changed.",
                                l, b, row[l]));
    }
  }
  return {};
}

Status check_finite(MatrixView<const float> features, MatrixView<const std::int32_t> not_finite) {
  const std::int32_t* const row = not_finite.data;
  if (std::all_of(row, row + not_finite.cols, [](std::int32_t bad) { return bad == 0; })) return {};
  ENGRAM_TRY(check_features(features, features.cols));
  return device_failed("quantise", "it found features that are not finite where there are none");
}

}  // namespace engram
