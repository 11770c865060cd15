// Pictures in files, batch by batch: decoded ahead, handed over in order, broken ones left out.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/feature_extractor.h"
#include "platform/image.h"
#include "platform/matrix_view.h"
#include "platform/picture_folder.h"
#include "platform/status.h"
#include "tools/console/console.h"

namespace engram {

nlohmann::ordered_json skipped_json(const std::vector<SkippedPicture>& skipped);  // [{path, why}]
// "29 inputs were skipped, each named above; the rest is learned and kept", behind the warnings that
// name them; nothing if there are none. `done`: what became of the rest.
void log_skipped(const Console& console, std::int64_t skipped, const char* done);

// Called once per batch; indices into `paths` of its pictures. Pictures that turn out to be of no use
// are added to `skipped`. A failure ends the stream.
using PictureSink =
    std::function<Status(std::span<const std::size_t> indices, std::span<const Image> pictures,
                         std::vector<SkippedPicture>& skipped)>;

inline constexpr int kPicturesPerBatch = 16;

// Pictures that cannot be read, or that the sink skips, are left out, warned of on the console, and
// listed. `what` names the progress bar. `say` is called behind every batch, one that failed too, and
// may print: no bar is on the screen then.
Result<std::vector<SkippedPicture>> stream_pictures(const std::vector<std::string>& paths,
                                                    const char* what, const Console& console,
                                                    const PictureSink& sink,
                                                    const std::function<void()>& say = {});

// Features of all pictures that could be read and have finite ones, in memory.
struct FeatureTable {
  std::vector<float> values;         // (indices.size(), L)
  std::vector<std::size_t> indices;  // into paths
  std::vector<SkippedPicture> skipped;
  int width = 0;  // L
  double seconds = 0;
  MatrixView<const float> view() const {
    return {values.data(), static_cast<int>(indices.size()), width, width};
  }
};
Result<FeatureTable> read_features(FeatureExtractor& extractor,
                                   const std::vector<std::string>& paths, const char* what,
                                   const Console& console);

}  // namespace engram
