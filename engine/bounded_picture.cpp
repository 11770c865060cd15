#include "engine/bounded_picture.h"

#include <algorithm>

#include "kernels/resample_cpu.h"

namespace engram {

Image bounded_picture(Image picture, int shorter) {
  ENGRAM_CHECK(shorter >= 1 && picture.width >= 1 && picture.height >= 1);
  const int side = std::min(picture.width, picture.height);
  if (side <= shorter) return picture;
  const auto scaled = [&](int length) { return int(std::int64_t{length} * shorter / side); };
  Image small{.width = scaled(picture.width), .height = scaled(picture.height), .rgb = {}};
  thread_local cpu::ResampleScratch scratch;
  cpu::resample({picture.view()}, resample_axis(picture.width, small.width, 0, Filter::bilinear),
                small.width, resample_axis(picture.height, small.height, 0, Filter::bilinear),
                small.height, scratch);
  small.rgb.resize(scratch.sums.size());
  std::transform(scratch.sums.begin(), scratch.sums.end(), small.rgb.begin(), byte_of);
  return small;
}

}  // namespace engram
