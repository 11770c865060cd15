// quantise on the CPU. Math, shapes and numerics: quantise.h.
#include "kernels/quantise.h"

#include <bit>

namespace engram::cpu {
namespace {

// Adding 1.5 * 2^23 leaves no room for a fraction: the addition itself rounds half to even, and the
// whole number stands in the low bits. Plain arithmetic, so any compiler makes SIMD of it.
constexpr float kRounder = 12582912.0f;

std::int8_t quantise_one(float feature, float scale) {
  float value = feature * scale;
  value = value > 127.0f ? 127.0f : value;  // before rounding: the limits are whole numbers
  value = value < -127.0f ? -127.0f : value;
  value = value == value ? value : 0.0f;  // NaN
  const auto bits = std::bit_cast<std::int32_t>(value + kRounder);
  return static_cast<std::int8_t>(bits - std::bit_cast<std::int32_t>(kRounder));
}

}  // namespace

Status quantise(Stream /*stream*/, MatrixView<const float> f, float scale,
                MatrixView<std::int8_t> q, MatrixView<std::int32_t> not_finite) {
  ENGRAM_CHECK(q.rows == f.rows && q.cols == f.cols);
  ENGRAM_CHECK(not_finite.rows == 1 && not_finite.cols == f.rows);
  for (int b = 0; b < f.rows; ++b) {
    const float* in = f.row(b);
    std::int8_t* out = q.row(b);
    std::int32_t bad = 0;
    for (int l = 0; l < f.cols; ++l) {
      out[l] = quantise_one(in[l], scale);
      bad |= in[l] - in[l] != 0.0f;  // NaN or infinite
    }
    not_finite(0, b) = bad;
  }
  return Status();
}

}  // namespace engram::cpu
