// What of a camera's picture is shown and looked at.
#pragma once

#include "platform/image.h"
#include "platform/picture_view.h"

namespace engram {

// The part of the picture, as it is shown, that is looked at, in 1/1000 of its sides; all of it by
// default.
struct Region {
  int left = 0, top = 0, width = 1000, height = 1000;
  bool operator==(const Region&) const = default;
};

// The nearest one within the picture and not empty.
Region within(Region region);

Image mirrored(const Image& picture);
// The part of it, in the same memory; at least one pixel, of NV12 from even ones on. The picture must
// have one.
PictureView cut_out(const PictureView& picture, const Region& region);

}  // namespace engram
