// How far two Vision Transformers are apart, weight by weight.
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/vit_model.h"
#include "tests/support/catch.h"
#include "tests/support/worst.h"

namespace engram::test {

// The largest difference of two lists of weights, infinity for NaN; 1e9: they are not of one size.
inline double apart(const BufferVector<float>& a, const BufferVector<float>& b) {
  if (a.size() != b.size()) return 1e9;
  Worst most;
  for (std::size_t i = 0; i < a.size(); ++i) most.see(std::fabs(double(a[i]) - b[i]));
  return most.value();
}
inline double apart(const VitLinear& a, const VitLinear& b) {
  return std::max(apart(a.weight, b.weight), apart(a.bias, b.bias));
}
inline double apart(const VitNorm& a, const VitNorm& b) {
  return std::max(apart(a.weight, b.weight), apart(a.bias, b.bias));
}
inline double apart(const VitModel& a, const VitModel& b) {
  if (a.blocks.size() != b.blocks.size() || a.input_norm.has_value() != b.input_norm.has_value() ||
      a.projection.has_value() != b.projection.has_value()) {
    return 1e9;
  }
  double most = std::max({apart(a.patch, b.patch), apart(a.prefix, b.prefix),
                          apart(a.positions, b.positions), apart(a.norm, b.norm)});
  if (a.input_norm) most = std::max(most, apart(*a.input_norm, *b.input_norm));
  if (a.projection) most = std::max(most, apart(*a.projection, *b.projection));
  for (std::size_t i = 0; i < a.blocks.size(); ++i) {
    const VitBlock &x = a.blocks[i], &y = b.blocks[i];
    most = std::max({most, apart(x.norm1, y.norm1), apart(x.qkv, y.qkv), apart(x.proj, y.proj),
                     apart(x.scale1, y.scale1), apart(x.norm2, y.norm2), apart(x.fc1, y.fc1),
                     apart(x.fc2, y.fc2), apart(x.scale2, y.scale2)});
  }
  return most;
}

inline void check_same_shape(const VitShape& found, const VitShape& expected) {
  CHECK(found.image == expected.image);
  CHECK(found.patch == expected.patch);
  CHECK(found.width == expected.width);
  CHECK(found.heads == expected.heads);
  CHECK(found.blocks == expected.blocks);
  CHECK(found.hidden == expected.hidden);
  CHECK(found.prefix == expected.prefix);
  CHECK(found.features == expected.features);
  CHECK(found.epsilon == expected.epsilon);
  CHECK(found.gelu == expected.gelu);
}

}  // namespace engram::test
