#include "tools/convert/calibration_pictures.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "platform/sentence.h"

namespace engram {

namespace {

Status too_few_pictures(const std::string& folder, std::size_t count) {
  return Status(Code::bad_data,
                fmt::format("{} has {} readable pictures; the feature scale needs at least {}",
                            folder, count, kFewestCalibrationPictures));
}

}  // namespace

Result<CalibrationPictures> CalibrationPictures::open(const std::string& folder) {
  CalibrationPictures pictures;
  pictures.folder_ = folder;
  if (!folder.empty()) {
    ENGRAM_ASSIGN(pictures.files_, find_images(folder));
    const std::size_t files = pictures.files_.size();
    if (files < kFewestCalibrationPictures) return too_few_pictures(folder, files);
    pictures.step_ = std::max<std::size_t>(1, files / kMostCalibrationPictures);
    return pictures;
  }
  auto stage = Stage::open({});
  if (!stage.ok()) {
    return Status(stage.status().code(),
                  fmt::format("{} The feature scale is measured on pictures: or give a folder with "
                              "at least {} of your own (--pictures)",
                              sentence(stage.status().what()), kFewestCalibrationPictures));
  }
  pictures.stage_ = std::move(stage).value();
  return pictures;
}

int CalibrationPictures::left() const {
  const int wanted = kMostCalibrationPictures - given_;
  if (stage_) return wanted;
  const std::size_t files =
      at_ < files_.size() ? (files_.size() - at_ + step_ - 1) / step_ : std::size_t{0};
  return static_cast<int>(std::min(files, static_cast<std::size_t>(wanted)));
}

Result<std::optional<Image>> CalibrationPictures::next_one() {
  if (stage_ && left() > 0) {
    const int objects = stage_->objects();
    ENGRAM_ASSIGN(Image picture,
                  stage_->view(given_ % objects, static_cast<std::uint64_t>(given_ / objects)));
    return std::optional<Image>(std::move(picture));
  }
  while (left() > 0) {
    auto picture = read_image(files_[std::exchange(at_, at_ + step_)]);
    if (picture.ok()) return std::optional<Image>(std::move(picture).value());
  }
  return std::optional<Image>();
}

Result<std::vector<Image>> CalibrationPictures::next(int most) {
  std::vector<Image> pictures;
  std::int64_t pixels = 0;
  while (static_cast<int>(pictures.size()) < most && pixels < kCalibrationPixels) {
    ENGRAM_ASSIGN(std::optional<Image> picture, next_one());
    if (!picture) break;
    pixels += std::int64_t{picture->width} * picture->height;
    pictures.push_back(std::move(*picture));
    ++given_;
  }
  if (pictures.empty() && given_ < kFewestCalibrationPictures) {
    return too_few_pictures(folder_, static_cast<std::size_t>(given_));
  }
  return pictures;
}

}  // namespace engram
