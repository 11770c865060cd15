// Small Vision Transformers with pseudo-random weights.
#pragma once

#include <cstdint>

#include "engine/vit_model.h"

namespace engram::test {

// image 8, patch 4, width 8, 2 heads, 2 blocks, hidden 12
VitShape small_shape();
// `seed` chooses the weights.
VitModel small_vit(VitShape shape, bool layer_scale, bool input_norm, bool projection,
                   std::uint32_t seed = 1);

}  // namespace engram::test
