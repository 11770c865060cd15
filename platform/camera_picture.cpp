#include "platform/camera_picture.h"

#include <cstddef>

namespace engram {
namespace {

// The rows of `plane`, one behind the other.
void append(MatrixView<const std::uint8_t> plane, std::vector<std::uint8_t>& bytes) {
  for (int y = 0; y < plane.rows; ++y) {
    bytes.insert(bytes.end(), plane.row(y), plane.row(y) + plane.cols);
  }
}

}  // namespace

CameraPicture CameraPicture::copy_of(const PictureView& nv12) {
  ENGRAM_CHECK(nv12.is_nv12() && nv12.is_valid());
  const auto& [luma, chroma, colours] = nv12;
  const std::size_t luma_bytes = std::size_t(luma.rows) * std::size_t(luma.cols);
  auto planes = std::make_unique<Nv12>();
  planes->bytes.reserve(luma_bytes + std::size_t(chroma.rows) * std::size_t(chroma.cols));
  append(luma, planes->bytes);
  append(chroma, planes->bytes);
  const std::uint8_t* const first = planes->bytes.data();
  planes->view = {{first, luma.rows, luma.cols, luma.cols},
                  {first + luma_bytes, chroma.rows, chroma.cols, chroma.cols},
                  colours};
  CameraPicture picture{Image()};
  picture.nv12_ = std::move(planes);
  return picture;
}

const Image& CameraPicture::rgb() const {
  if (nv12_ == nullptr) return rgb_;
  std::call_once(nv12_->asked, [this] {
    const PictureView& view = nv12_->view;
    Image image{view.width(), view.height(), {}};
    const std::size_t row = 3 * std::size_t(image.width);
    image.rgb.resize(row * std::size_t(image.height));
    for (int y = 0; y < image.height; ++y) {
      nv12_row_to_rgb(view, y, image.rgb.data() + row * std::size_t(y));
    }
    nv12_->rgb = std::move(image);
  });
  return nv12_->rgb;
}

}  // namespace engram
