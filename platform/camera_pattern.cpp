// test://: a square that wanders over a coloured ground, and failures on purpose, so that whatever
// stands behind a camera can be tested through a real address.
#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include <fmt/format.h>

#include "platform/camera_sources.h"

namespace engram {
namespace {

struct Pattern {
  int width = 320, height = 240;
  std::uint64_t seed = 1;
  std::uint64_t frames = 0;  // 0: without end
  std::uint64_t fail_every = 0, stall_every = 0, garbage_every = 0;
};

bool is_turn(std::uint64_t number, std::uint64_t every) {
  return every != 0 && number % every == 0;
}

// From one end to the other and back, so that the square never jumps.
int there_and_back(std::uint64_t step, int last) {
  if (last == 0) return 0;
  const auto place = static_cast<int>(step % static_cast<std::uint64_t>(2 * last));
  return place <= last ? place : 2 * last - place;
}

Image draw(const Pattern& pattern, std::uint64_t number) {
  Image image{pattern.width, pattern.height, {}};
  image.rgb.resize(std::size_t(pattern.width) * pattern.height * 3);
  const int side = std::min(pattern.width, pattern.height) / 4;
  const std::uint64_t step = 3 * number + 7 * (pattern.seed % 1000);
  const int left = there_and_back(step, pattern.width - side);
  const int top = there_and_back(step / 2, pattern.height - side);
  const auto tint = static_cast<std::uint8_t>(pattern.seed * 37);
  std::uint8_t* pixel = image.rgb.data();
  for (int y = 0; y < pattern.height; ++y) {
    for (int x = 0; x < pattern.width; ++x, pixel += 3) {
      const bool in_square = x >= left && x < left + side && y >= top && y < top + side;
      pixel[0] = in_square ? 255 : static_cast<std::uint8_t>(255 * x / pattern.width);
      pixel[1] = in_square ? 220 : static_cast<std::uint8_t>(255 * y / pattern.height);
      pixel[2] = in_square ? 0 : tint;
    }
  }
  return image;
}

class PatternCamera : public Camera {
 public:
  explicit PatternCamera(const Pattern& pattern) : pattern_(pattern) {}

  Result<CameraPicture> next() override {
    if (gone_)
      return Status(Code::io_failure, "test://: the camera is gone until it is opened again");
    if (pattern_.frames != 0 && number_ == pattern_.frames) {
      return Status(Code::not_found, fmt::format("The pattern is over after {} frames.", number_));
    }
    ++number_;
    if (is_turn(number_, pattern_.fail_every)) {
      gone_ = true;
      return Status(Code::io_failure,
                    fmt::format("test://: unplugged at frame {}, as fail_every says", number_));
    }
    if (is_turn(number_, pattern_.stall_every)) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      return Status(Code::io_failure,
                    fmt::format("test://: no picture for a second at frame {}, as stall_every says",
                                number_));
    }
    if (is_turn(number_, pattern_.garbage_every)) {
      return Status(Code::bad_data,
                    fmt::format("test://: frame {} is garbage, as garbage_every says", number_));
    }
    return CameraPicture(draw(pattern_, number_));
  }

 private:
  Pattern pattern_;
  std::uint64_t number_ = 0;  // of the frame shown last
  bool gone_ = false;
};

}  // namespace

OpenedCamera open_pattern(CameraUri uri) {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  ENGRAM_ASSIGN(const auto width, uri.take_number("width", 320, 16, 4096));
  ENGRAM_ASSIGN(const auto height, uri.take_number("height", 240, 16, 4096));
  ENGRAM_ASSIGN(const auto fps, uri.take_number("fps", 30, 0, 1000));
  ENGRAM_ASSIGN(const auto frames, uri.take_number("frames", 0, 0, kAny));
  ENGRAM_ASSIGN(const auto seed, uri.take_number("seed", 1, 0, kAny));
  ENGRAM_ASSIGN(const auto fail, uri.take_number("fail_every", 0, 0, kAny));
  ENGRAM_ASSIGN(const auto stall, uri.take_number("stall_every", 0, 0, kAny));
  ENGRAM_ASSIGN(const auto garbage, uri.take_number("garbage_every", 0, 0, kAny));
  ENGRAM_TRY(uri.nothing_else(kPatternAddress));
  const Pattern pattern{static_cast<int>(width),
                        static_cast<int>(height),
                        static_cast<std::uint64_t>(seed),
                        static_cast<std::uint64_t>(frames),
                        static_cast<std::uint64_t>(fail),
                        static_cast<std::uint64_t>(stall),
                        static_cast<std::uint64_t>(garbage)};
  return paced(std::make_unique<PatternCamera>(pattern), static_cast<int>(fps));
}

}  // namespace engram
