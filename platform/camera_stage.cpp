// The stage: finding the cut-outs, and putting a view together.
#include "platform/camera_stage.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "platform/stage_canvas.h"

namespace engram {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPackageFolder = "/usr/share/tuxpaint/stamps";

std::string stamps_folder(const StageOptions& options) {
  if (!options.stamps.empty()) return options.stamps;
  const char* chosen = std::getenv("ENGRAM_STAMPS");
  return chosen != nullptr && *chosen != '\0' ? chosen : kPackageFolder;
}

struct Found {
  std::string name, path;
};

std::string name_of_file(const fs::path& path) {
  std::string name = path.stem().string();
  for (char& c : name) {
    if (c == '_' || c == '-') c = ' ';
  }
  return name;
}

Result<std::vector<Found>> find_objects(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return Status(Code::not_found,
                  fmt::format("{}: the pictures of the stage are not there. Install them with\n"
                              "  sudo apt-get install --no-install-recommends "
                              "tuxpaint-stamps-default\n"
                              "or name a folder of cut-out PNG pictures in ENGRAM_STAMPS.",
                              folder));
  }
  std::vector<Found> found;
  for (const StageObject& object : stage_objects()) {
    const fs::path path = fs::path(folder) / object.file;
    if (fs::is_regular_file(path, error)) found.push_back({object.name, path.string()});
  }
  if (!found.empty()) return found;
  ENGRAM_ASSIGN(const auto pictures, find_images(folder));
  for (const std::string& path : pictures) {
    if (fs::path(path).extension() == ".png") found.push_back({name_of_file(path), path});
  }
  return found;
}

class StageCamera : public Camera {
 public:
  StageCamera(Stage stage, const StageShow& show) : stage_(std::move(stage)), show_(show) {}

  Result<CameraPicture> next() override {
    if (show_.frames != 0 && frame_ == show_.frames) {
      return Status(Code::not_found, fmt::format("The show is over after {} frames.", frame_));
    }
    const auto turn = frame_ / static_cast<std::uint64_t>(show_.hold);
    const auto object = static_cast<int>(turn % static_cast<std::uint64_t>(stage_.objects()));
    ENGRAM_ASSIGN(Image picture, stage_.view(object, frame_++));
    return CameraPicture(std::move(picture));
  }

 private:
  Stage stage_;
  StageShow show_;
  std::uint64_t frame_ = 0;
};

}  // namespace

Result<Stage> Stage::open(const StageOptions& options) {
  if (options.width < 64 || options.width > 4096 || options.height < 64 || options.height > 4096) {
    return Status(Code::invalid_argument,
                  fmt::format("stage: a frame of {} x {} pixels; each side must be 64 to 4096",
                              options.width, options.height));
  }
  const std::string folder = stamps_folder(options);
  ENGRAM_ASSIGN(const auto found, find_objects(folder));
  if (options.objects < 1 || options.objects > static_cast<int>(found.size())) {
    return Status(Code::invalid_argument, fmt::format("stage: {} objects wanted; {} has 1 to {}",
                                                      options.objects, folder, found.size()));
  }
  Stage stage;
  stage.options_ = options;
  for (const Found& one : found) {
    if (stage.objects() == options.objects) break;
    auto picture = read_png_with_alpha(one.path);
    if (picture.ok()) {
      stage.cutouts_.push_back({one.name, std::move(picture).value()});
    } else if (picture.status().code() == Code::bad_data) {
      stage.skipped_.push_back(picture.status().what());
    } else {
      return picture.status();
    }
  }
  if (stage.cutouts_.empty()) return Status(Code::bad_data, stage.skipped_.front());
  return stage;
}

Result<Image> Stage::view(int object, std::uint64_t view_index) const {
  if (object < 0 || object >= objects()) {
    return Status(Code::invalid_argument,
                  fmt::format("stage: there is no object {}; it has {}", object, objects()));
  }
  stage::Chance chance(stage::mixed(options_.seed) ^
                       stage::mixed(view_index ^ stage::mixed(static_cast<std::uint64_t>(object))));
  stage::Canvas canvas = stage::paint_background(options_.width, options_.height, chance);
  stage::place_object(cutouts_[object].picture, chance, canvas);
  return stage::photograph(std::move(canvas), chance);
}

std::unique_ptr<Camera> make_stage_camera(Stage stage, const StageShow& show) {
  ENGRAM_CHECK(show.hold > 0);
  return std::make_unique<StageCamera>(std::move(stage), show);
}

}  // namespace engram
