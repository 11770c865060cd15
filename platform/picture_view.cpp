#include "platform/picture_view.h"

namespace engram {

void nv12_row_to_rgb(const PictureView& picture, int y, std::uint8_t* rgb) {
  const std::uint8_t* luma = picture.pixels.row(y);
  const std::uint8_t* chroma = picture.chroma.row(y / 2);
  for (int x = 0; x < picture.width(); ++x) {
    const Rgb pixel = rgb_of(picture.colours, luma[x], chroma[x / 2 * 2], chroma[x / 2 * 2 + 1]);
    *rgb++ = pixel.red;
    *rgb++ = pixel.green;
    *rgb++ = pixel.blue;
  }
}

}  // namespace engram
