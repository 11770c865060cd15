// A picture resampled on the CPU, row by row: for preprocess, and to make a smaller picture of it.
//
// Only what is wanted is computed. Each needed picture row is resampled across (to bytes, as Pillow
// rounds between its passes) and at once added, with its weight, to the output rows that it belongs
// to; whole-number sums are the same in any order. So scratch memory is 12 bytes per output pixel, the
// weights, at most 16 bytes per pixel of the picture's sides, however odd its shape, and for NV12 one
// row as RGB.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/preprocess_axis.h"
#include "platform/picture_view.h"

namespace engram::cpu {

// The weights of one axis.
struct WeightedAxis {
  struct Window {
    int first, count;
    std::size_t weights;  // where its weights start
  };
  std::vector<Window> windows;
  std::vector<int> weights;  // whole numbers: the real ones times 2^kFractionBits
  std::vector<double> real;  // of one window, before rounding
};

struct ResampleScratch {  // kept by the caller: of pictures of one shape only the first allocates
  WeightedAxis across, down;
  std::vector<std::uint8_t> rgb, row;
  std::vector<int> sums;
};

// `rows` rows of `cols` pixels: byte_of(scratch.sums[3 * (row * cols + col) + channel]).
void resample(const PictureView& picture, const ResampleAxis& across, int cols,
              const ResampleAxis& down, int rows, ResampleScratch& scratch);

}  // namespace engram::cpu
