// PNG by libpng: any bit depth, palette, grey, transparency, interlacing, to 8-bit RGB or RGBA.
//
// libpng leaves a function on error by longjmp, which runs no destructors. So each function that
// calls setjmp owns nothing: the reader and the pixels belong to its caller.
#include <array>
#include <csetjmp>
#include <cstring>

#include <fmt/format.h>
#include <png.h>

#include "platform/image_codecs.h"

namespace engram::codec {
namespace {

constexpr std::size_t kMaxChunkBytes = 4'000'000;  // no chunk that we use needs more
constexpr int kMaxChunks = 1000;

struct Reader {
  explicit Reader(Bytes bytes) : file(bytes) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, ignore);
    if (png != nullptr) info = png_create_info_struct(png);
    if (info != nullptr) png_set_read_fn(png, this, read);
  }
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  static void fail(png_structp png, const char* message) {
    auto* self = static_cast<Reader*>(png_get_error_ptr(png));
    std::strncpy(self->error.data(), message, self->error.size() - 1);
    longjmp(png_jmpbuf(png), 1);
  }
  static void ignore(png_structp, const char*) {}  // warnings: notes that libpng passes over
  static void read(png_structp png, png_bytep to, std::size_t count) {
    auto* self = static_cast<Reader*>(png_get_io_ptr(png));
    if (count > self->file.size() - self->offset) {
      self->cut_off = true;
      png_error(png, "cut off");
    }
    std::memcpy(to, self->file.data() + self->offset, count);
    self->offset += count;
  }

  Bytes file;
  std::size_t offset = 0;
  bool cut_off = false;
  bool has_alpha = false;
  int passes = 1;  // over the rows: 7 when interlaced
  std::array<char, 200> error{};
  png_structp png = nullptr;
  png_infop info = nullptr;
};

// Reads what stands before the pixels and orders their form. False: libpng jumped out.
bool start(Reader& reader, bool alpha_wanted) {
  png_structp png = reader.png;
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  // Profiles and texts may unpack to anything; we do not use them, so they are never unpacked.
  static const png_byte kUnused[] = "iCCP\0zTXt\0iTXt\0tEXt\0sPLT\0eXIf";
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, kUnused, 6);
  png_set_user_limits(png, kMaxSide, kMaxSide);
  png_set_chunk_malloc_max(png, kMaxChunkBytes);
  png_set_chunk_cache_max(png, kMaxChunks);
  png_read_info(png, reader.info);

  reader.has_alpha = (png_get_color_type(png, reader.info) & PNG_COLOR_MASK_ALPHA) != 0 ||
                     png_get_valid(png, reader.info, PNG_INFO_tRNS) != 0;
  png_set_expand(png);    // palette to RGB, grey to 8 bits, tRNS to alpha
  png_set_strip_16(png);  // the upper byte, as Pillow takes it
  png_set_gray_to_rgb(png);
  if (alpha_wanted && !reader.has_alpha) png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
  reader.passes = png_set_interlace_handling(png);
  png_read_update_info(png, reader.info);
  return true;
}

// False: libpng jumped out, the file is broken or cut off.
bool read_rows(Reader& reader, png_bytep pixels, png_uint_32 height, std::size_t row_bytes) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  for (int pass = 0; pass < reader.passes; ++pass) {
    for (png_uint_32 y = 0; y < height; ++y) {
      png_read_row(reader.png, pixels + y * row_bytes, nullptr);
    }
  }
  return true;
}

struct Pixels {
  int width = 0;
  int height = 0;
  int channels = 3;
  std::vector<std::uint8_t> bytes;
};

Status not_readable(const Reader& reader, const std::string& name) {
  const std::string why = reader.cut_off
                              ? fmt::format("it ends after {}, before the picture is complete",
                                            readable_size(reader.file.size()))
                              : std::string(reader.error.data());
  return {Code::bad_data, fmt::format("{}: not a readable PNG ({})", name, why)};
}

std::uint32_t big_endian_32(Bytes file, std::size_t at) {
  return std::uint32_t{byte_at(file, at)} << 24 | std::uint32_t{byte_at(file, at + 1)} << 16 |
         std::uint32_t{byte_at(file, at + 2)} << 8 | byte_at(file, at + 3);
}

Result<Pixels> decode(Bytes file, const std::string& name, bool alpha_wanted) {
  Reader reader(file);
  if (reader.info == nullptr) {
    return Status(Code::out_of_memory, fmt::format("{}: no memory for libpng", name));
  }
  constexpr std::size_t kSizeAt = 16;  // where an honest file has its width and height
  if (file.size() >= kSizeAt + 8) {
    ENGRAM_TRY(
        check_dimensions(name, big_endian_32(file, kSizeAt), big_endian_32(file, kSizeAt + 4)));
  }
  if (!start(reader, alpha_wanted)) return not_readable(reader, name);

  Pixels pixels;
  pixels.width = static_cast<int>(png_get_image_width(reader.png, reader.info));
  pixels.height = static_cast<int>(png_get_image_height(reader.png, reader.info));
  // libpng lets other chunks stand before the header: those bytes may have been theirs.
  ENGRAM_TRY(check_dimensions(name, pixels.width, pixels.height));
  pixels.channels = alpha_wanted || reader.has_alpha ? 4 : 3;
  const std::size_t row_bytes = std::size_t(pixels.width) * pixels.channels;
  if (png_get_rowbytes(reader.png, reader.info) != row_bytes) {
    return Status(Code::internal, fmt::format("{}: libpng gives an unexpected row size", name));
  }
  pixels.bytes.resize(row_bytes * pixels.height);
  if (!read_rows(reader, pixels.bytes.data(), pixels.height, row_bytes)) {
    return not_readable(reader, name);
  }
  return pixels;
}

// The TIFF block of the first eXIf chunk, which may also stand behind the pixels; empty: none. Found
// without libpng, which would unpack and keep it; whatever it holds is checked by exif_orientation.
Bytes exif_of_png(Bytes file) {
  constexpr std::size_t kSignature = 8, kAround = 12;  // length and type before, checksum behind
  for (std::size_t at = kSignature; file.size() - at >= kAround;) {
    const std::size_t length = big_endian_32(file, at);
    if (length > file.size() - at - kAround) break;
    if (std::memcmp(file.data() + at + 4, "eXIf", 4) == 0) return file.subspan(at + 8, length);
    at += kAround + length;
  }
  return {};
}

// In place: each pixel's four bytes become three at or before where they stood.
void lay_on_white(Pixels& pixels) {
  const std::size_t count = pixels.bytes.size() / 4;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* from = &pixels.bytes[4 * i];
    const int alpha = from[3];
    for (int c = 0; c < 3; ++c) {
      const int sum = from[c] * alpha + 255 * (255 - alpha);
      pixels.bytes[3 * i + c] = static_cast<std::uint8_t>((sum + 127) / 255);
    }
  }
  pixels.bytes.resize(3 * count);
  pixels.channels = 3;
}

}  // namespace

bool is_png(Bytes file) {
  return file.size() >= 8 && png_sig_cmp(reinterpret_cast<png_const_bytep>(file.data()), 0, 8) == 0;
}

Result<Image> decode_png(Bytes file, const std::string& name) {
  ENGRAM_ASSIGN(Pixels pixels, decode(file, name, false));
  if (pixels.channels == 4) lay_on_white(pixels);
  return turned_upright(Image{pixels.width, pixels.height, std::move(pixels.bytes)},
                        exif_orientation(exif_of_png(file)));
}

Result<ImageWithAlpha> decode_png_with_alpha(Bytes file, const std::string& name) {
  ENGRAM_ASSIGN(Pixels pixels, decode(file, name, true));
  return ImageWithAlpha{pixels.width, pixels.height, std::move(pixels.bytes)};
}

}  // namespace engram::codec
