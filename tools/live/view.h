// What of a camera's picture is shown and looked at.
#pragma once

#include "platform/image.h"

namespace engram {

// The part of the picture, as it is shown, that is looked at, in 1/1000 of its sides; all of it by
// default.
struct Region {
  int left = 0, top = 0, width = 1000, height = 1000;
  bool is_all() const { return left == 0 && top == 0 && width == 1000 && height == 1000; }
  bool operator==(const Region&) const = default;
};

// The nearest one within the picture and not empty.
Region within(Region region);

Image mirrored(const Image& picture);
// At least one pixel; the picture must have one.
Image cut_out(const Image& picture, const Region& region);

}  // namespace engram
