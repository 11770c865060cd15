// A plain Vision Transformer for pictures of another size: fewer patches cost less, more see more.
//
//     positions'[c]      = positions[c]                          for the prefix
//     positions'[C + i]  = bicubic of the old grid at patch i    across, then down
//
// The filter is the one pictures are resized with (kernels/preprocess_axis.h, antialiased when the
// grid shrinks), in double. All other weights stay as they are.
#pragma once

#include "engine/vit_model.h"
#include "platform/status.h"

namespace engram {

// invalid_argument: `image` is not a multiple of the patch, or out of range.
Result<VitModel> resize_vit(VitModel model, int image);

}  // namespace engram
