// preprocess: a picture of any size to the backbone's input tensor.
//
//     to RGB, resize (antialiased, as Pillow does it), cut the centre, (value - mean) / std
//
//   name      shape            type      meaning
//   picture   height, w        uint8     RGB or NV12, see picture_view.h
//   how                                  size and normalisation, from the backbone's card
//   tensor    (3, crop*crop)   float     one plane per channel in how.order, written in full
//
// Numerics. Resampling follows Pillow's 8-bit path (Image.resize, BICUBIC with a = -0.5 or BILINEAR,
// support scaled by the reduction, two passes with fixed-point coefficients and rounding to bytes in
// between), so pixels equal Pillow's to the bit: across, then down, as the pictures were that backbones were
// trained on (Pillow 13 exchanges the passes for tall pictures). Sizes follow torchvision: the
// longer side is rounded down, the crop starts at half the difference, halves rounded to even.
//
// Memory. Scratch is kept per thread and reused: 12 bytes per output pixel and at most 19 per pixel
// of the picture's two sides.
#pragma once

#include <array>
#include <cstdint>

#include "platform/matrix_view.h"
#include "platform/picture_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

enum class Resize : std::uint8_t {
  shorter_side,  // keep the shape: the shorter side becomes `resize`, then the centre is cut
  squash,        // both sides become `resize`, then the centre is cut
};
enum class ChannelOrder : std::uint8_t { rgb, bgr };
enum class Filter : std::uint8_t {
  bicubic,   // what most backbones are tested with
  bilinear,  // what they are trained with (engine/augment.h), and some are tested with
};

inline constexpr int kMaxResize = 8192;

struct PreprocessSpec {
  int resize = 256;  // pixels, <= kMaxResize
  int crop = 224;    // pixels, 1 <= crop <= resize: the tensor's height and width
  Resize mode = Resize::shorter_side;
  ChannelOrder order = ChannelOrder::rgb;
  std::array<float, 3> mean{};        // in the units of a byte, 0..255, in RGB order
  std::array<float, 3> std{1, 1, 1};  // likewise
  Filter filter = Filter::bicubic;
};

// One signature for all backends: a backend that drifts from it does not link.
using Preprocess = Status(Stream stream, PictureView picture, const PreprocessSpec& how,
                          MatrixView<float> tensor);

namespace cpu {
Preprocess preprocess;  // preprocess_cpu.cpp
}
namespace cuda {
Preprocess preprocess;  // preprocess.cu, compiled by nvcc
}
namespace simt {
Preprocess preprocess;  // preprocess.cu, compiled by the host compiler
}

}  // namespace engram
