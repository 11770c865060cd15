// What a model card and a learner's config both say of a backbone, and the bounds on it. (That on
// the number of features is in platform/backbone.h.)
#pragma once

#include <algorithm>
#include <string>

namespace engram {

// q = round(f * scale). Far from where a float becomes infinite, or subnormal, which some CPUs take
// for zero: the bytes must be the same everywhere.
inline constexpr double kLeastFeatureScale = 1e-20;
inline constexpr double kLargestFeatureScale = 1e20;
inline bool is_feature_scale(float scale) {
  return scale >= float(kLeastFeatureScale) && scale <= float(kLargestFeatureScale);
}

// The name of a backbone's content (state_backbone.h). Others may name theirs otherwise, in printable
// ASCII, which JSON gives back as it was.
inline constexpr std::size_t kMaxBackboneName = 256;
inline bool is_backbone_name(const std::string& name) {
  return name.size() <= kMaxBackboneName &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace engram
