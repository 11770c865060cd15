// Pictures in files to features, batch by batch: decode ahead, extract, hand over.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/feature_extractor.h"
#include "platform/matrix_view.h"
#include "platform/status.h"
#include "tools/console.h"

namespace engram {

struct SkippedPicture {
  std::string path;
  Status why;
};

struct FeatureStreamOptions {
  const char* what = "features";  // of the progress bar
  int batch = 16;
  int decode_threads = 0;  // 0: as many as thread_count()
};

// Called once per batch, in order; indices into `paths` of its rows. A failure ends the stream.
using FeatureSink =
    std::function<Status(std::span<const std::size_t> indices, MatrixView<const float> features)>;

// Pictures that cannot be read are left out and listed; each is also warned of on the console.
Result<std::vector<SkippedPicture>> stream_features(FeatureExtractor& extractor,
                                                    const std::vector<std::string>& paths,
                                                    const FeatureStreamOptions& options,
                                                    const Console& console,
                                                    const FeatureSink& sink);

// All at once in memory: rows of the pictures that could be read, and which those are.
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
                                   const std::vector<std::string>& paths,
                                   const FeatureStreamOptions& options, const Console& console);

}  // namespace engram
