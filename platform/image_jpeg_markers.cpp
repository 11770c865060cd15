// The segments of a JPEG file, walked without decoding it.
//
// TurboJPEG fills what is missing from a cut-off file with grey and only warns, and it reports only
// the first of its warnings. So whether the file reaches its end marker is found out here.
#include <cstring>

#include "platform/image_codecs.h"

namespace engram::codec {
namespace {

constexpr std::uint8_t kStartOfImage = 0xd8;
constexpr std::uint8_t kEndOfImage = 0xd9;
constexpr std::uint8_t kStartOfScan = 0xda;
constexpr std::uint8_t kApp1 = 0xe1;

bool stands_alone(std::uint8_t marker) {  // has no length: TEM, RST0..7, SOI
  return marker == 0x01 || (marker >= 0xd0 && marker <= kStartOfImage);
}

// The place after the next marker's code byte, at or after `at`; 0 when there is none.
// In picture data 0xff 0x00 is a data byte, not a marker; elsewhere stray bytes are skipped, as
// libjpeg does.
std::size_t after_next_marker(Bytes file, std::size_t at) {
  while (at < file.size()) {
    const void* found = std::memchr(file.data() + at, 0xff, file.size() - at);
    if (found == nullptr) return 0;
    at = static_cast<std::size_t>(static_cast<const std::byte*>(found) - file.data()) + 1;
    while (at < file.size() && byte_at(file, at) == 0xff) ++at;  // fill bytes
    if (at < file.size() && byte_at(file, at) != 0x00) return at + 1;
  }
  return 0;
}

Bytes exif_of_segment(Bytes segment) {
  static constexpr char kName[] = {'E', 'x', 'i', 'f', 0, 0};
  if (segment.size() < sizeof(kName)) return {};
  if (std::memcmp(segment.data(), kName, sizeof(kName)) != 0) return {};
  return segment.subspan(sizeof(kName));
}

}  // namespace

bool is_jpeg(Bytes file) {
  return file.size() >= 3 && byte_at(file, 0) == 0xff && byte_at(file, 1) == kStartOfImage &&
         byte_at(file, 2) == 0xff;
}

JpegLayout read_jpeg_layout(Bytes file) {
  JpegLayout layout;
  bool in_picture = false;
  std::size_t at = 2;  // behind the start marker
  while ((at = after_next_marker(file, at)) != 0) {
    const std::uint8_t marker = byte_at(file, at - 1);
    if (marker == kEndOfImage) {
      layout.complete = true;
      break;
    }
    if (stands_alone(marker)) continue;

    if (file.size() - at < 2) break;
    const std::size_t length = std::size_t{byte_at(file, at)} << 8 | byte_at(file, at + 1);
    if (length < 2 || length > file.size() - at) break;
    if (marker == kApp1 && !in_picture && layout.exif.empty()) {
      layout.exif = exif_of_segment(file.subspan(at + 2, length - 2));
    }
    in_picture = in_picture || marker == kStartOfScan;
    at += length;
  }
  return layout;
}

}  // namespace engram::codec
