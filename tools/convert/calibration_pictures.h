// The pictures that a backbone's feature scale is measured on, a few at a time: 96 photos of a
// camera would take more memory than many a device has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/camera_stage.h"
#include "platform/image.h"
#include "platform/status.h"

namespace engram {

inline constexpr int kFewestCalibrationPictures = 16;
inline constexpr int kMostCalibrationPictures = 96;
// No picture is read beyond these, so that at most a quarter of kMaxPixels and one picture are in
// memory at a time.
inline constexpr std::int64_t kCalibrationPixels = kMaxPixels / 4;
inline constexpr std::int64_t kCalibrationBytes = 3 * (kCalibrationPixels + kMaxPixels);

class CalibrationPictures {
 public:
  // Of `folder`, evenly over its sorted files; empty: views of the demo's objects, which are the
  // same on every machine. Nothing is decoded yet.
  static Result<CalibrationPictures> open(const std::string& folder);

  // The next ones, `most` or fewer; broken files are passed over. Empty: there are no more.
  // bad_data: there are no more, and they were fewer than kFewestCalibrationPictures.
  Result<std::vector<Image>> next(int most);

  int given() const { return given_; }
  int left() const;  // at most: broken files show only when they are read

 private:
  CalibrationPictures() = default;
  Result<std::optional<Image>> next_one();  // nothing: no more

  std::string folder_;
  std::vector<std::string> files_;
  std::size_t at_ = 0, step_ = 1;
  std::optional<Stage> stage_;
  int given_ = 0;
};

}  // namespace engram
