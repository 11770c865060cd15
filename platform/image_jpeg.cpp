// JPEG by TurboJPEG: the accurate transform and smooth upsampling, so that pixels are those of
// Pillow and of every other user of libjpeg.
#include <memory>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>
#include <turbojpeg.h>

#include "platform/image_codecs.h"

namespace engram::codec {
namespace {

struct Destroy {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using Decoder = std::unique_ptr<std::remove_pointer_t<tjhandle>, Destroy>;

struct Header {
  int width = 0;
  int height = 0;
  int subsampling = -1;
  int colours = -1;
  bool has_four_channels() const { return colours == TJCS_CMYK || colours == TJCS_YCCK; }
};

Status not_readable(const std::string& name, std::string_view why) {
  return {Code::bad_data, fmt::format("{}: not a readable JPEG ({})", name, why)};
}

// Warnings about notes in the header leave every pixel right. All others mean that pixels are
// missing or wrong: such a picture would teach nonsense, so it is refused.
bool is_harmless(std::string_view warning) {
  for (const std::string_view known :
       {"extraneous bytes before marker", "unknown JFIF revision number",
        "Unknown Adobe color transform code", "Inconsistent progression sequence"}) {
    if (warning.find(known) != std::string_view::npos) return true;
  }
  return false;
}

// TurboJPEG calls an uncommon subsampling (3:1, 4:1:0) an error here but decodes it all the same;
// the fields are filled in before it complains.
Result<Header> read_header(tjhandle decoder, Bytes file, const std::string& name) {
  Header header;
  const int failed =
      tjDecompressHeader3(decoder, reinterpret_cast<const unsigned char*>(file.data()), file.size(),
                          &header.width, &header.height, &header.subsampling, &header.colours);
  const bool filled_in = header.width > 0 && header.height > 0 && header.colours >= 0;
  if (failed != 0 && !filled_in) return not_readable(name, tjGetErrorStr2(decoder));
  ENGRAM_TRY(check_dimensions(name, header.width, header.height));
  return header;
}

Status decode_pixels(tjhandle decoder, Bytes file, const std::string& name, const Header& header,
                     int format, std::vector<std::uint8_t>& pixels) {
  pixels.resize(std::size_t(header.width) * header.height * tjPixelSize[format]);
  // A progressive file of thousands of scans would take hours: TJFLAG_LIMITSCANS refuses it.
  const int failed = tjDecompress2(decoder, reinterpret_cast<const unsigned char*>(file.data()),
                                   file.size(), pixels.data(), header.width, 0, header.height,
                                   format, TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS);
  if (failed == 0) return Status();
  const std::string_view message = tjGetErrorStr2(decoder);
  if (tjGetErrorCode(decoder) == TJERR_WARNING && is_harmless(message)) return Status();
  return not_readable(name, message);
}

// round(a * b / 255) without a division
int multiply_255(int a, int b) {
  const int product = a * b + 128;
  return (product + (product >> 8)) >> 8;
}

// Every program that writes CMYK JPEGs follows Adobe and stores 255 - ink, so what is stored is
// light: red = (light of black) less what cyan ink takes of it. To the bit what Pillow makes of it.
std::vector<std::uint8_t> rgb_of_inverted_cmyk(const std::vector<std::uint8_t>& cmyk) {
  std::vector<std::uint8_t> rgb(cmyk.size() / 4 * 3);
  for (std::size_t i = 0; i < cmyk.size() / 4; ++i) {
    const int black_light = cmyk[4 * i + 3];
    for (int c = 0; c < 3; ++c) {
      const int ink = 255 - cmyk[4 * i + c];
      rgb[3 * i + c] = static_cast<std::uint8_t>(black_light - multiply_255(ink, black_light));
    }
  }
  return rgb;
}

}  // namespace

Result<Image> decode_jpeg(Bytes file, const std::string& name) {
  const JpegLayout layout = read_jpeg_layout(file);
  const Decoder decoder(tjInitDecompress());
  if (!decoder) return Status(Code::internal, fmt::format("{}: {}", name, tjGetErrorStr()));
  if (!layout.complete) {
    return not_readable(
        name, fmt::format("it ends after {}, before the picture is complete: cut off or damaged",
                          readable_size(file.size())));
  }
  ENGRAM_ASSIGN(const Header header, read_header(decoder.get(), file, name));

  Image stored{header.width, header.height, {}};
  if (header.has_four_channels()) {
    std::vector<std::uint8_t> cmyk;
    ENGRAM_TRY(decode_pixels(decoder.get(), file, name, header, TJPF_CMYK, cmyk));
    stored.rgb = rgb_of_inverted_cmyk(cmyk);
  } else {
    ENGRAM_TRY(decode_pixels(decoder.get(), file, name, header, TJPF_RGB, stored.rgb));
  }
  return turned_upright(std::move(stored), exif_orientation(layout.exif));
}

}  // namespace engram::codec
