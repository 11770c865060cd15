// Any bytes as a camera's frame of any layout: refused, or a picture of the size that was agreed on.
#include <cstring>

#include "platform/camera_pixels.h"
#include "tests/fuzz/fuzz_target.h"

using namespace engram;

namespace {

struct Header {
  std::uint8_t format;
  std::uint8_t unused;
  std::int16_t width, height, stride;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Header header{};
  if (size < sizeof header) return 0;
  std::memcpy(&header, data, sizeof header);
  const FrameLayout layout{header.format % 2 == 0 ? PixelFormat::yuyv : PixelFormat::nv12,
                           header.width, header.height, header.stride};
  const auto bytes = std::as_bytes(std::span(data, size).subspan(sizeof header));
  const auto picture = read_frame(layout, bytes, "camera");
  if (!picture.ok()) return 0;
  ENGRAM_CHECK(picture->view().is_valid());
  const Image& image = picture->rgb();
  ENGRAM_CHECK(image.width == header.width && image.height == header.height);
  ENGRAM_CHECK(image.rgb.size() == std::size_t(header.width) * header.height * 3);
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  for (const Header& header : {Header{0, 0, 6, 4, 12}, Header{1, 0, 5, 3, 8}}) {
    std::string seed(sizeof header, '\0');
    std::memcpy(seed.data(), &header, sizeof header);
    seeds.push_back(seed + std::string(48, '\x80'));
  }
  return seeds;
}
