// The pictures that a backbone's feature scale is measured on.
#pragma once

#include <string>
#include <vector>

#include "platform/image.h"
#include "platform/status.h"

namespace engram {

inline constexpr int kFewestCalibrationPictures = 16;
inline constexpr int kMostCalibrationPictures = 96;

// From `folder`, evenly over its sorted files (broken ones are passed over); empty: views of the
// demo's objects, which are the same on every machine.
Result<std::vector<Image>> calibration_pictures(const std::string& folder);

}  // namespace engram
