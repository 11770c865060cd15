#include "tools/convert/calibration_pictures.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "platform/camera_stage.h"
#include "platform/sentence.h"

namespace engram {

namespace {

Result<std::vector<Image>> from_stage() {
  auto stage = Stage::open({});
  if (!stage.ok()) {
    return Status(stage.status().code(),
                  fmt::format("{} The feature scale is measured on pictures: or give a folder with "
                              "at least {} of your own (--pictures)",
                              sentence(stage.status().what()), kFewestCalibrationPictures));
  }
  std::vector<Image> pictures;
  for (int i = 0; i < kMostCalibrationPictures; ++i) {
    const int object = i % stage->objects();
    ENGRAM_ASSIGN(auto picture,
                  stage->view(object, static_cast<std::uint64_t>(i / stage->objects())));
    pictures.push_back(std::move(picture));
  }
  return pictures;
}

}  // namespace

Result<std::vector<Image>> calibration_pictures(const std::string& folder) {
  if (folder.empty()) return from_stage();
  ENGRAM_ASSIGN(const auto files, find_images(folder));
  std::vector<Image> pictures;
  const std::size_t step = std::max<std::size_t>(1, files.size() / kMostCalibrationPictures);
  for (std::size_t i = 0; i < files.size(); i += step) {
    if (pictures.size() == kMostCalibrationPictures) break;
    if (auto picture = read_image(files[i]); picture.ok()) {
      pictures.push_back(std::move(picture).value());
    }
  }
  if (pictures.size() < kFewestCalibrationPictures) {
    return Status(Code::bad_data,
                  fmt::format("{} has {} readable pictures; the feature scale needs at least {}",
                              folder, pictures.size(), kFewestCalibrationPictures));
  }
  return pictures;
}

}  // namespace engram
