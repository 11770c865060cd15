// Camera pixels against their definition in double, and frames that are not what they claim.
#include "platform/camera_pixels.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/picture_files.h"
#include "tests/support/says.h"
#include "tests/support/thoroughness.h"

namespace engram {
namespace {

using test::says;
using Bytes = std::vector<std::uint8_t>;

std::span<const std::byte> as_bytes(const Bytes& bytes) {
  return std::as_bytes(std::span(bytes));
}

// How far a byte is from the definition, before rounding: at most a half.
double distance(int luma, int u, int v, const std::uint8_t* rgb) {
  const double y = (luma - 16) / 219.0, blue = (u - 128) / 224.0, red = (v - 128) / 224.0;
  const double exact[3] = {y + 1.402 * red, y - 0.344136 * blue - 0.714136 * red, y + 1.772 * blue};
  double worst = 0;
  for (int c = 0; c < 3; ++c) {
    worst = std::max(worst, std::abs(rgb[c] - std::clamp(255 * exact[c], 0.0, 255.0)));
  }
  return worst;
}

Bytes counted(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(37 * i + i / 7);
  return bytes;
}

}  // namespace

TEST_CASE("camera pixels: every colour is the definition's, rounded", "[platform][camera]") {
  // A row of YUYV for each (u, v): all 256 lumas.
  const FrameLayout layout{PixelFormat::yuyv, 256, 1, 512};
  Bytes row(512);
  double worst = 0;
  for (int u = 0; u < 256; ++u) {
    for (int v = 0; v < 256; v += test::every()) {
      for (int luma = 0; luma < 256; ++luma) {
        row[2 * luma] = static_cast<std::uint8_t>(luma);
        row[2 * luma + 1] = static_cast<std::uint8_t>(luma % 2 == 0 ? u : v);
      }
      const auto image = read_frame(layout, as_bytes(row), "camera");
      REQUIRE(image.ok());
      for (int luma = 0; luma < 256; ++luma) {
        worst = std::max(worst, distance(luma, u, v, image->rgb().rgb.data() + 3 * luma));
      }
    }
  }
  CHECK(worst <= 0.5 + 1e-3);  // 2^-20 of a coefficient, times 255: a tie may fall either way
}

TEST_CASE("camera pixels: where each value lies", "[platform][camera]") {
  for (const int width : {1, 2, 5, 6}) {
    for (const int height : {1, 2, 5}) {
      const int even = width + width % 2;
      const FrameLayout yuyv{PixelFormat::yuyv, width, height, 2 * even + 6};
      const Bytes packed = counted(std::size_t(yuyv.stride) * height);
      const auto a = read_frame(yuyv, as_bytes(packed), "camera");
      const FrameLayout nv12{PixelFormat::nv12, width, height, even + 3};
      const Bytes planes = counted(std::size_t(nv12.stride) * (height + (height + 1) / 2));
      const auto b = read_frame(nv12, as_bytes(planes), "camera");
      REQUIRE(a.ok());
      REQUIRE(b.ok());
      REQUIRE(b->view().is_nv12());
      REQUIRE(b->rgb().rgb.size() == std::size_t(width) * height * 3);
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          const std::uint8_t* row = packed.data() + y * yuyv.stride;
          const std::size_t at = 3 * (std::size_t(y) * width + x);
          CHECK(distance(row[2 * x], row[x / 2 * 4 + 1], row[x / 2 * 4 + 3], &a->rgb().rgb[at]) <
                0.501);
          const std::uint8_t* colours = planes.data() + (height + y / 2) * nv12.stride + x / 2 * 2;
          CHECK(distance(planes[y * nv12.stride + x], colours[0], colours[1], &b->rgb().rgb[at]) <
                0.501);
        }
      }
    }
  }
}

TEST_CASE("camera pixels: a frame cut off is refused, to the byte", "[platform][camera]") {
  const FrameLayout layouts[] = {{PixelFormat::yuyv, 6, 4, 16}, {PixelFormat::nv12, 6, 4, 8}};
  const std::size_t needed[] = {3 * 16 + 12, 5 * 8 + 6};
  for (int i = 0; i < 2; ++i) {
    const Bytes bytes = counted(needed[i]);
    CHECK(read_frame(layouts[i], as_bytes(bytes), "camera").ok());
    const auto cut = read_frame(layouts[i], as_bytes(bytes).first(needed[i] - 1), "camera");
    CHECK(cut.status().code() == Code::bad_data);
    CHECK(says(cut.status(), "instead of " + std::to_string(needed[i])));
  }
}

TEST_CASE("camera pixels: layouts that cannot be", "[platform][camera]") {
  for (const PixelFormat format : {PixelFormat::yuyv, PixelFormat::nv12}) {
    for (const FrameLayout& wrong : std::initializer_list<FrameLayout>{
             {format, 0, 4, 16},
             {format, 4, -1, 16},
             {format, 8, 4, 7},
             {format, 99'999, 99'999, 200'000},
             {format, 2'000'000'000, 2'000'000'000, 2'000'000'000}}) {
      CHECK(check_layout(wrong, "camera").code() == Code::invalid_argument);
      CHECK_FALSE(read_frame(wrong, {}, "camera").ok());
    }
  }
}

TEST_CASE("camera pixels: motion JPEG, whole, cut off, and without its tables",
          "[platform][camera]") {
  const FrameLayout layout{PixelFormat::jpeg, 0, 0, 0};
  const auto file = test::jpeg_file(test::gradient_picture(40, 30));
  const auto whole = read_frame(layout, file, "camera");
  REQUIRE(whole.ok());
  CHECK(whole->rgb().width == 40);
  auto padded = file;
  padded.resize(file.size() + 100);  // webcams fill their buffers up
  CHECK(read_frame(layout, padded, "camera").value().rgb().rgb == whole->rgb().rgb);
  CHECK(read_frame(layout, std::span(file).first(file.size() / 2), "camera").status().code() ==
        Code::bad_data);
  CHECK(read_frame(layout, {}, "camera").status().code() == Code::bad_data);
  // Most webcams leave the usual Huffman tables (marker FF C4) out.
  test::FileBytes bare;
  for (std::size_t i = 0; i < file.size();) {
    if (file[i] == std::byte{0xff} && file[i + 1] == std::byte{0xc4}) {
      i += 2 + (std::to_integer<std::size_t>(file[i + 2]) << 8) +
           std::to_integer<std::size_t>(file[i + 3]);
    } else {
      bare.push_back(file[i++]);
    }
  }
  REQUIRE(bare.size() < file.size());
  const auto usual = read_frame(layout, bare, "camera");
  INFO(usual.status().what());
  REQUIRE(usual.ok());
  CHECK(usual->rgb().rgb == whole->rgb().rgb);
}

}  // namespace engram
