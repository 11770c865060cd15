#include <memory>
#include <type_traits>

#include <fmt/format.h>
#include <turbojpeg.h>

#include "platform/image.h"

namespace engram {

Status encode_jpeg(const Image& image, int quality, std::vector<std::byte>& file) {
  struct Destroy {
    void operator()(void* handle) const { tjDestroy(handle); }
  };
  const std::unique_ptr<std::remove_pointer_t<tjhandle>, Destroy> encoder(tjInitCompress());
  if (!encoder) return {Code::internal, fmt::format("JPEG: {}", tjGetErrorStr())};
  file.resize(tjBufSize(image.width, image.height, TJSAMP_420));
  auto* bytes = reinterpret_cast<unsigned char*>(file.data());
  unsigned long size = file.size();
  if (tjCompress2(encoder.get(), image.rgb.data(), image.width, 3 * image.width, image.height,
                  TJPF_RGB, &bytes, &size, TJSAMP_420, quality, TJFLAG_NOREALLOC) != 0) {
    return {Code::internal, fmt::format("JPEG: {}", tjGetErrorStr2(encoder.get()))};
  }
  file.resize(size);
  return {};
}

}  // namespace engram
