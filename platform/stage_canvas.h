// The picture under way: floats in the units of a byte, so that light can exceed white until the
// end. For platform/stage_*.cpp and camera_stage.cpp only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "platform/image.h"
#include "platform/stage_math.h"

namespace engram::stage {

struct Colour {
  float red, green, blue;
};

struct Canvas {
  Canvas(int w, int h) : width(w), height(h), pixels(std::size_t(w) * h) {}
  Colour& at(int x, int y) { return pixels[std::size_t(y) * width + x]; }
  const Colour& at(int x, int y) const { return pixels[std::size_t(y) * width + x]; }

  int width, height;
  std::vector<Colour> pixels;
};

inline Colour mix(const Colour& a, const Colour& b, float t) {
  return {mix(a.red, b.red, t), mix(a.green, b.green, t), mix(a.blue, b.blue, t)};
}

// stage_background.cpp: what is behind the object, out of focus.
Canvas paint_background(int width, int height, Chance& chance);

// stage_object.cpp: the object and its soft shadow, somewhere in the middle.
void place_object(const ImageWithAlpha& object, Chance& chance, Canvas& canvas);

// stage_lens.cpp: light, blur, noise; then bytes.
Image photograph(Canvas canvas, Chance& chance);

}  // namespace engram::stage
