// A picture no larger than training needs: what is kept of a photo while a backbone adapts.
#pragma once

#include "platform/image.h"

namespace engram {

// The picture as it is where its shorter side has at most `shorter` pixels; else resized to that, the
// longer side rounded down, as Pillow's Image.resize with BILINEAR does it.
Image bounded_picture(Image picture, int shorter);

}  // namespace engram
