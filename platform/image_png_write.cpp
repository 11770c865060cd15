// Writing a picture, for people to look at.
#include <fmt/format.h>
#include <png.h>

#include "platform/file.h"
#include "platform/image.h"

namespace engram {

Status write_png(const std::string& path, const Image& image) {
  ENGRAM_CHECK(image.rgb.size() == std::size_t(3) * image.width * image.height);
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB;

  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::vector<std::byte> file(size);
  if (png_image_write_to_memory(&header, file.data(), &size, 0, image.rgb.data(), 0, nullptr) ==
      0) {
    const Status status(Code::internal, fmt::format("{}: libpng: {}", path, header.message));
    png_image_free(&header);
    return status;
  }
  file.resize(size);
  return replace_file(path, file);
}

}  // namespace engram
