#include "tools/features/finite_features.h"

#include <utility>

#include <fmt/format.h>

#include "platform/finite.h"

namespace engram {

Status check_finite_features(const std::string& path, std::span<const float> features) {
  if (are_finite(features)) return {};
  return Status(Code::bad_data,
                fmt::format("{}: the backbone makes features of it that are not finite (NaN or "
                            "infinite), so nothing can be learned or told from it",
                            path));
}

Status take_finite(FeatureExtractor& extractor, const std::vector<std::string>& paths,
                   std::span<const std::size_t> indices, std::span<const Image> pictures,
                   std::vector<SkippedPicture>& skipped, const TakePictures& take) {
  const Status all = take(indices, pictures);
  if (all.code() != Code::bad_data) return all;
  const auto width = std::size_t(extractor.features());
  std::vector<float> features(pictures.size() * width);
  ENGRAM_TRY(
      extractor.extract(pictures, {features.data(), int(pictures.size()), int(width), int(width)}));
  bool found = false;
  std::size_t begin = 0;  // of the pictures since the last that was skipped
  for (std::size_t i = 0; i <= pictures.size(); ++i) {
    if (i < pictures.size()) {
      const std::string& path = paths[indices[i]];
      Status status = check_finite_features(path, std::span(features).subspan(i * width, width));
      if (status.ok()) continue;
      found = true;
      skipped.push_back({path, std::move(status)});
    }
    if (!found) return all;  // something else was wrong with the batch
    if (i > begin)
      ENGRAM_TRY(take(indices.subspan(begin, i - begin), pictures.subspan(begin, i - begin)));
    begin = i + 1;
  }
  return {};
}

}  // namespace engram
