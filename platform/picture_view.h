// A picture in somebody's memory: RGB, or NV12 as cameras and video decoders give it.
//
//   format   pixels                    chroma
//   RGB      (height, 3 w) uint8       none (0 rows)
//   NV12     (height, w) uint8, Y      (ceil(height / 2), 2 ceil(w / 2)) uint8, Cb and Cr in turn
//
// Rows of each plane are stride bytes apart, wherever they are: a camera's buffer is used as it is.
//
// Numerics. A pixel of NV12 has the chroma of its block of 2 x 2, and is converted to RGB bytes before
// anything is resampled, in whole numbers of 2^-20: the same bits on every backend, and the bytes of
// the real-number formula but for ties.
#pragma once

#include <cstdint>

#include "platform/matrix_view.h"

namespace engram {

// R = luma + red_cr Cr', G = luma - green_cb Cb' - green_cr Cr', B = luma + blue_cb Cb', in 2^-20,
// with luma = scale (Y - black), Cb' = Cb - 128, Cr' = Cr - 128.
struct YuvColours {
  int black = 0, scale = 0, red_cr = 0, green_cb = 0, green_cr = 0, blue_cb = 0;
};
inline constexpr int kYuvBits = 20;

// Kr and Kb are a standard's weights of red and blue in luma; limited range has Y in 16..235.
constexpr YuvColours yuv_colours(double kr, double kb, bool full_range) {
  const double one = 1 << kYuvBits, kg = 1.0 - kr - kb;
  const double luma = full_range ? 1.0 : 255.0 / 219.0, chroma = full_range ? 1.0 : 255.0 / 224.0;
  const auto fixed = [one](double value) { return static_cast<int>(value * one + 0.5); };
  return {.black = full_range ? 0 : 16,
          .scale = fixed(luma),
          .red_cr = fixed(2.0 * (1.0 - kr) * chroma),
          .green_cb = fixed(2.0 * kb * (1.0 - kb) / kg * chroma),
          .green_cr = fixed(2.0 * kr * (1.0 - kr) / kg * chroma),
          .blue_cb = fixed(2.0 * (1.0 - kb) * chroma)};
}
inline constexpr YuvColours kBt601 = yuv_colours(0.299, 0.114, false);     // most cameras
inline constexpr YuvColours kBt601Full = yuv_colours(0.299, 0.114, true);  // JPEG
inline constexpr YuvColours kBt709 = yuv_colours(0.2126, 0.0722, false);   // video of HD size

struct Rgb {
  std::uint8_t red, green, blue;
};

ENGRAM_HOST_DEVICE inline Rgb rgb_of(const YuvColours& colours, int y, int cb, int cr) {
  const int luma = colours.scale * (y - colours.black) + (1 << (kYuvBits - 1));
  const int u = cb - 128, v = cr - 128;
  const auto byte = [](int fixed) {
    const int value = fixed >> kYuvBits;
    return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
  };
  return {byte(luma + colours.red_cr * v), byte(luma - colours.green_cb * u - colours.green_cr * v),
          byte(luma + colours.blue_cb * u)};
}

struct PictureView {
  MatrixView<const std::uint8_t> pixels;
  MatrixView<const std::uint8_t> chroma = {};
  YuvColours colours = {};  // of NV12

  ENGRAM_HOST_DEVICE bool is_nv12() const { return chroma.rows > 0; }
  ENGRAM_HOST_DEVICE int height() const { return pixels.rows; }
  ENGRAM_HOST_DEVICE int width() const { return is_nv12() ? pixels.cols : pixels.cols / 3; }
  bool is_valid() const {
    if (pixels.rows < 1 || pixels.cols < 1) return false;
    if (!is_nv12()) return pixels.cols % 3 == 0;
    return chroma.rows == (pixels.rows + 1) / 2 && chroma.cols == (pixels.cols + 1) / 2 * 2;
  }
};

// Row y of an NV12 picture in the CPU's memory as RGB: 3 * width bytes.
void nv12_row_to_rgb(const PictureView& picture, int y, std::uint8_t* rgb);

}  // namespace engram
