// The two constants of the exact arithmetic, measured once per backbone from features of pictures.
#pragma once

#include <cstdint>

#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

struct Calibration {
  float feature_scale = 0;      // q = round(f * feature_scale) uses the byte without cutting much
  std::int32_t hidden_mul = 0;  // h = (p * hidden_mul) >> 16 spreads p over 0..31
};

// features (B, L), B >= 16. Rounded to 2^(k/2): features that differ a little give the same answer.
// bad_data: not finite, or all zero.
Result<Calibration> calibrate(MatrixView<const float> features);

}  // namespace engram
