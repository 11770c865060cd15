#include "tools/feature_stream.h"

#include <utility>

#include "platform/threads.h"
#include "tools/picture_loader.h"
#include "tools/progress.h"

namespace engram {
namespace {

constexpr std::size_t kBatchBytes = 192 << 20;  // decoded pictures of one batch, about

std::size_t bytes_of(const std::vector<Image>& pictures) {
  std::size_t bytes = 0;
  for (const Image& picture : pictures) bytes += picture.rgb.size();
  return bytes;
}

}  // namespace

Result<std::vector<SkippedPicture>> stream_features(FeatureExtractor& extractor,
                                                    const std::vector<std::string>& paths,
                                                    const FeatureStreamOptions& options,
                                                    const Console& console,
                                                    const FeatureSink& sink) {
  const int width = extractor.features();
  std::vector<float> rows(std::size_t(options.batch) * width);
  std::vector<SkippedPicture> skipped;
  std::vector<Image> pictures;
  std::vector<std::size_t> indices;
  PictureLoader loader(paths, options.decode_threads > 0 ? options.decode_threads : thread_count());
  {
    Progress progress(console.shows_progress(), options.what,
                      static_cast<std::int64_t>(paths.size()), "img");
    const auto hand_over = [&]() -> Status {
      if (pictures.empty()) return {};
      const MatrixView<float> features{rows.data(), static_cast<int>(pictures.size()), width,
                                       width};
      ENGRAM_TRY(extractor.extract(pictures, features));
      ENGRAM_TRY(sink(indices, features));
      progress.advance(static_cast<std::int64_t>(pictures.size()));
      pictures.clear();
      indices.clear();
      return {};
    };
    for (std::size_t i = 0; i < paths.size(); ++i) {
      Result<Image> picture = *loader.next();
      if (!picture.ok()) {
        skipped.push_back({paths[i], picture.status()});
        progress.advance();
        continue;
      }
      pictures.push_back(std::move(picture).value());
      indices.push_back(i);
      const bool full = std::ssize(pictures) == options.batch || bytes_of(pictures) > kBatchBytes;
      if (full) ENGRAM_TRY(hand_over());
    }
    ENGRAM_TRY(hand_over());
  }
  for (const SkippedPicture& one : skipped) console.warn(one.why.what());
  return skipped;
}

Result<FeatureTable> read_features(FeatureExtractor& extractor,
                                   const std::vector<std::string>& paths,
                                   const FeatureStreamOptions& options, const Console& console) {
  FeatureTable table;
  table.width = extractor.features();
  table.values.reserve(paths.size() * table.width);
  const Progress clock(false, "");
  ENGRAM_ASSIGN(
      table.skipped,
      stream_features(
          extractor, paths, options, console,
          [&](std::span<const std::size_t> indices, MatrixView<const float> features) -> Status {
            table.indices.insert(table.indices.end(), indices.begin(), indices.end());
            table.values.insert(table.values.end(), features.data, features.row(features.rows));
            return {};
          }));
  table.seconds = clock.seconds();
  return table;
}

}  // namespace engram
