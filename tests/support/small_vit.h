// Small Vision Transformers with pseudo-random weights, and made-up pictures and parameters for them.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/adapt_parameters.h"
#include "engine/vit_model.h"

namespace engram::test {

// image 8, patch 4, width 8, 2 heads, 2 blocks, hidden 12
VitShape small_shape();
// Every linear map has a bias but the projection. `seed` chooses the weights.
VitModel small_vit(const VitShape& shape, bool layer_scale, bool input_norm, bool projection,
                   std::uint32_t seed = 1);

enum class VitKind : std::uint8_t {
  plain,        // as DeiT
  layer_scale,  // as DINOv2, with a register token
  clip,         // with input norm, projection, quick gelu, and patches without bias
};
VitModel small_vit(VitKind kind, int blocks = 3, std::uint32_t seed = 1);

// Rank 3, two prompts, no dropout, a random head.
AdaptSettings small_settings(AdaptMethod method);
// Parameters where nothing is zero that trains, so that every gradient is.
AdaptParameters random_parameters(const VitShape& shape, const AdaptSettings& settings, int classes,
                                  std::uint32_t seed = 7);
// (count, 3 image^2)
std::vector<float> random_pictures(const VitShape& shape, int count, std::uint32_t seed = 3);

}  // namespace engram::test
