// A camera's picture as it came: RGB, or NV12, which has half the bytes and is what preprocess takes
// as it is. Its RGB is made when somebody asks for it: to show it, to mirror it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "platform/image.h"
#include "platform/picture_view.h"

namespace engram {

class CameraPicture {
 public:
  explicit CameraPicture(Image rgb) : rgb_(std::move(rgb)) {}
  // A copy of NV12 planes.
  static CameraPicture copy_of(const PictureView& nv12);

  // As it came; stays where it is when this picture is moved.
  PictureView view() const { return nv12_ == nullptr ? PictureView{rgb_.view()} : nv12_->view; }
  // Made by the first who asks, of any thread, and kept.
  const Image& rgb() const;

 private:
  struct Nv12 {
    std::vector<std::uint8_t> bytes;
    PictureView view;  // of them
    std::once_flag asked;
    Image rgb;
  };

  Image rgb_;  // or:
  std::unique_ptr<Nv12> nv12_;
};

}  // namespace engram
