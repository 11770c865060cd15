// Which camera an address means. A new kind of source adds one case here.
#include "platform/camera.h"

#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "platform/camera_sources.h"
#include "platform/camera_stage.h"
#include "platform/camera_uri.h"

namespace engram {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStageAddress =
    "stage://?seed=1&objects=12&width=640&height=480&hold=30&frames=0&fps=30&stamps=DIR";

std::string understood() {
  std::string list;
  for (const char* address : {kV4l2Address, kCsiAddress, kRtspAddress, kVideoAddress, kFilesAddress,
                              kStageAddress, kPatternAddress}) {
    list += std::string("\n  ") + address;
  }
  return list;
}

OpenedCamera open_stage(CameraUri uri) {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  StageOptions options;
  StageShow show;
  ENGRAM_ASSIGN(const auto seed, uri.take_number("seed", 1, 0, kAny));
  ENGRAM_ASSIGN(const auto objects, uri.take_number("objects", options.objects, 1, 10'000));
  ENGRAM_ASSIGN(const auto width, uri.take_number("width", options.width, 64, 4096));
  ENGRAM_ASSIGN(const auto height, uri.take_number("height", options.height, 64, 4096));
  ENGRAM_ASSIGN(const auto hold, uri.take_number("hold", show.hold, 1, 1'000'000));
  ENGRAM_ASSIGN(const auto frames, uri.take_number("frames", 0, 0, kAny));
  ENGRAM_ASSIGN(const auto fps, uri.take_number("fps", 30, 0, 1000));
  options.seed = static_cast<std::uint64_t>(seed);
  options.objects = static_cast<int>(objects);
  options.width = static_cast<int>(width);
  options.height = static_cast<int>(height);
  options.stamps = uri.take_text("stamps", "");
  show.hold = static_cast<int>(hold);
  show.frames = static_cast<std::uint64_t>(frames);
  ENGRAM_TRY(uri.nothing_else(kStageAddress));
  ENGRAM_ASSIGN(Stage stage, Stage::open(options));
  return paced(make_stage_camera(std::move(stage), show), static_cast<int>(fps));
}

OpenedCamera open_file(CameraUri uri) {
  std::error_code error;
  const bool is_video = fs::is_regular_file(uri.path, error) && !is_picture_file(uri.path);
  return is_video ? open_video(std::move(uri)) : open_picture_files(std::move(uri));
}

// A path as people type it. One that is there is taken as it stands, whatever signs it has.
OpenedCamera open_path(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_character_file(status) || path.starts_with("/dev/video")) {
    return open_v4l2(CameraUri{"v4l2", path, {}});
  }
  if (fs::exists(status)) return open_file(CameraUri{"file", path, {}});
  ENGRAM_ASSIGN(CameraUri uri, parse_camera_uri("file://" + path));
  const bool is_pattern = uri.path.find_first_of("*[") != std::string::npos;
  if (is_pattern || fs::exists(uri.path, error)) return open_file(std::move(uri));
  return Status(Code::not_found,
                fmt::format("camera \"{}\": there is no such file or folder, and it is not an "
                            "address. Understood are paths, and{}",
                            mistyped_address(path), understood()));
}

Status refused(const std::string& uri, const std::string& scheme) {
  const std::string nearest = nearest_scheme(scheme);
  const std::string question = nearest.empty() ? "" : fmt::format(" Did you mean {}://?", nearest);
  return {
      Code::not_supported,
      fmt::format("camera \"{}\": this kind of source is not supported.{} Understood are paths, "
                  "and{}",
                  mistyped_address(uri), question, understood())};
}

}  // namespace

Result<std::unique_ptr<Camera>> open_camera(const std::string& uri) {
  const std::size_t colon = uri.find("://");
  if (uri.empty() || colon == 0) {
    return Status(Code::invalid_argument,
                  fmt::format("camera \"{}\": not an address. Understood are paths, and{}",
                              mistyped_address(uri), understood()));
  }
  if (colon == std::string::npos) return open_path(uri);
  const std::string scheme = uri.substr(0, colon);
  if (scheme == "rtsp" || scheme == "rtsps") return open_rtsp(uri);
  ENGRAM_ASSIGN(CameraUri parsed, parse_camera_uri(uri));
  if (scheme == "file") return open_file(std::move(parsed));
  if (scheme == "v4l2") return open_v4l2(std::move(parsed));
  if (scheme == "csi") return open_csi(std::move(parsed));
  if (scheme == "stage") return open_stage(std::move(parsed));
  if (scheme == "test") return open_pattern(std::move(parsed));
  return refused(uri, scheme);
}

}  // namespace engram
