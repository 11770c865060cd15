// Pictures of which a backbone makes features that are NaN or infinite. That is a matter of one
// picture: it is left out by its name, like one that cannot be read, and the others are used.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/feature_extractor.h"
#include "platform/image.h"
#include "platform/picture_folder.h"
#include "platform/status.h"

namespace engram {

// bad_data, with a sentence that names the picture: one of its features is not finite.
Status check_finite_features(const std::string& path, std::span<const float> features);

using TakePictures =
    std::function<Status(std::span<const std::size_t> indices, std::span<const Image> pictures)>;

// What `take` says of the batch, which must change nothing when it fails with bad_data. If it does
// because of a picture's features, that picture goes into `skipped`, and the others are taken, in
// order. Features are computed again for that, so the usual case costs nothing.
Status take_finite(FeatureExtractor& extractor, const std::vector<std::string>& paths,
                   std::span<const std::size_t> indices, std::span<const Image> pictures,
                   std::vector<SkippedPicture>& skipped, const TakePictures& take);

}  // namespace engram
