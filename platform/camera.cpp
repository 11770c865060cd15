// Which camera an address means. A new kind of source adds one case here.
#include "platform/camera.h"

#include <limits>

#include <fmt/format.h>

#include "platform/camera_stage.h"
#include "platform/camera_uri.h"

namespace engram {
namespace {

constexpr const char* kUnderstood =
    "stage://?seed=1&objects=12&width=640&height=480&hold=30&frames=0&stamps=DIR";

Result<std::unique_ptr<Camera>> open_stage(CameraUri uri) {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  StageOptions options;
  StageShow show;
  ENGRAM_ASSIGN(const auto seed, uri.take_number("seed", 1, 0, kAny));
  ENGRAM_ASSIGN(const auto objects, uri.take_number("objects", options.objects, 1, 10'000));
  ENGRAM_ASSIGN(const auto width, uri.take_number("width", options.width, 64, 4096));
  ENGRAM_ASSIGN(const auto height, uri.take_number("height", options.height, 64, 4096));
  ENGRAM_ASSIGN(const auto hold, uri.take_number("hold", show.hold, 1, 1'000'000));
  ENGRAM_ASSIGN(const auto frames, uri.take_number("frames", 0, 0, kAny));
  options.seed = static_cast<std::uint64_t>(seed);
  options.objects = static_cast<int>(objects);
  options.width = static_cast<int>(width);
  options.height = static_cast<int>(height);
  options.stamps = uri.take_text("stamps", "");
  show.hold = static_cast<int>(hold);
  show.frames = static_cast<std::uint64_t>(frames);
  if (!uri.path.empty() || !uri.parameters.empty()) {
    const std::string odd = uri.path.empty() ? uri.parameters.begin()->first : uri.path;
    return Status(
        Code::invalid_argument,
        fmt::format("camera stage://: \"{}\" is not understood. It takes {}", odd, kUnderstood));
  }
  ENGRAM_ASSIGN(Stage stage, Stage::open(options));
  return make_stage_camera(std::move(stage), show);
}

}  // namespace

Result<std::unique_ptr<Camera>> open_camera(const std::string& uri) {
  ENGRAM_ASSIGN(CameraUri parsed, parse_camera_uri(uri));
  if (parsed.scheme == "stage") return open_stage(std::move(parsed));
  return Status(Code::not_supported,
                fmt::format("camera \"{}\": this kind of source is not supported. Supported: {}",
                            uri, kUnderstood));
}

}  // namespace engram
