// Which decoder reads a file (by its first bytes, never by its name), and the bounds all share.
#include "platform/image.h"

#include <filesystem>
#include <new>
#include <string_view>

#include <fmt/format.h>

#include "platform/file.h"
#include "platform/image_codecs.h"

namespace engram {
namespace {

using codec::Bytes;

bool has_at(Bytes file, std::size_t offset, std::string_view text) {
  if (file.size() < offset + text.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (codec::byte_at(file, offset + i) != static_cast<std::uint8_t>(text[i])) return false;
  }
  return true;
}

// People who have the wrong kind of file are best helped by hearing which kind it is.
std::string_view other_kind(Bytes file) {
  if (has_at(file, 0, "GIF8")) return "a GIF picture";
  if (has_at(file, 0, "RIFF") && has_at(file, 8, "WEBP")) return "a WebP picture";
  if (has_at(file, 4, "ftyphei") || has_at(file, 4, "ftypmif1")) return "a HEIC picture";
  if (has_at(file, 4, "ftypavif")) return "an AVIF picture";
  if (has_at(file, 4, "ftyp")) return "a video";
  if (has_at(file, 0, std::string_view("II*\0", 4)) ||
      has_at(file, 0, std::string_view("MM\0*", 4))) {
    return "a TIFF picture";
  }
  if (has_at(file, 0, "BM")) return "a BMP picture";
  if (has_at(file, 0, "%PDF")) return "a PDF document";
  return {};
}

Status not_a_picture(Bytes file, const std::string& name) {
  if (file.empty()) return {Code::bad_data, fmt::format("{}: is empty (0 bytes)", name)};
  const std::string_view kind = other_kind(file);
  if (kind.empty()) {
    return {Code::bad_data, fmt::format("{}: is not a JPEG or PNG picture", name)};
  }
  return {
      Code::bad_data,
      fmt::format("{}: is {}, not a JPEG or PNG picture; convert it to one of these", name, kind)};
}

// Pipes and devices are refused too: reading one could wait for ever.
Result<std::vector<std::byte>> read_picture_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) {
    return Status(Code::invalid_argument, fmt::format("{}: is a folder, not a picture", path));
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return Status(Code::invalid_argument, fmt::format("{}: is not a regular file", path));
  }
  return read_file(path, kMaxImageBytes);
}

// The bounds above keep a picture's memory finite; a small machine may still not have it.
template <class T, class Decode>
Result<T> with_memory_checked(const std::string& name, Decode decode) {
  try {
    return decode();
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory, fmt::format("{}: not enough memory for this picture", name));
  }
}

}  // namespace

Result<Image> decode_image(std::span<const std::byte> bytes, const std::string& name) {
  return with_memory_checked<Image>(name, [&]() -> Result<Image> {
    if (codec::is_jpeg(bytes)) return codec::decode_jpeg(bytes, name);
    if (codec::is_png(bytes)) return codec::decode_png(bytes, name);
    return not_a_picture(bytes, name);
  });
}

Result<Image> read_image(const std::string& path) {
  return with_memory_checked<Image>(path, [&]() -> Result<Image> {
    ENGRAM_ASSIGN(const auto bytes, read_picture_file(path));
    return decode_image(bytes, path);
  });
}

Result<ImageWithAlpha> read_png_with_alpha(const std::string& path) {
  return with_memory_checked<ImageWithAlpha>(path, [&]() -> Result<ImageWithAlpha> {
    ENGRAM_ASSIGN(const auto bytes, read_picture_file(path));
    if (!codec::is_png(bytes)) {
      return Status(Code::bad_data, fmt::format("{}: is not a PNG picture", path));
    }
    return codec::decode_png_with_alpha(bytes, path);
  });
}

namespace codec {

std::string readable_size(std::size_t bytes) {
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  if (bytes < 1'000'000) return fmt::format("{} kB", bytes / 1000);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

Status check_dimensions(const std::string& name, std::int64_t width, std::int64_t height) {
  if (width < 1 || height < 1) {
    return {Code::bad_data, fmt::format("{}: has no pixels ({} x {})", name, width, height)};
  }
  if (width > kMaxSide || height > kMaxSide || width * height > kMaxPixels) {
    return {Code::bad_data,
            fmt::format("{}: is too large ({} x {} pixels; the limit is {} million pixels and {} a "
                        "side); make it smaller",
                        name, width, height, kMaxPixels / 1'000'000, kMaxSide)};
  }
  return Status();
}

}  // namespace codec
}  // namespace engram
