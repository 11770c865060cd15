#include "tools/pictures/precheck.h"

#include <fmt/format.h>

#include "platform/image.h"
#include "platform/sentence.h"
#include "platform/threads.h"
#include "tools/console/units.h"
#include "tools/features/finite_features.h"
#include "tools/pictures/picture_loader.h"
#include "tools/pictures/picture_stream.h"

namespace engram {
namespace {

// With one picture its own sentence is the answer.
Status refuse(const std::vector<std::string>& paths, const std::string& why, const Status& first) {
  if (paths.size() > 1) return Status(Code::bad_data, why + " Nothing was changed.");
  return Status(first.code(), sentence(first.what()) + " Nothing was changed.");
}

}  // namespace

Status check_all_usable(const std::vector<std::string>& paths, FeatureExtractor& extractor,
                        const Console& console) {
  const auto width = std::size_t(extractor.features());
  std::vector<float> features;
  const auto look = [&](std::span<const std::size_t> indices, std::span<const Image> pictures,
                        std::vector<SkippedPicture>& skipped) -> Status {
    features.resize(pictures.size() * width);
    ENGRAM_TRY(extractor.extract(pictures,
                                 {features.data(), int(pictures.size()), int(width), int(width)}));
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      const std::string& path = paths[indices[i]];
      Status status = check_finite_features(path, std::span(features).subspan(i * width, width));
      if (!status.ok()) skipped.push_back({path, std::move(status)});
    }
    return {};
  };
  ENGRAM_ASSIGN(const std::vector<SkippedPicture> bad,
                stream_pictures(paths, "check", console, look));
  if (bad.empty()) return {};
  return refuse(paths,
                fmt::format("{} of {} cannot be learned, and --strict was asked for.", bad.size(),
                            plural(std::ssize(paths), "picture", "pictures")),
                bad.front().why);
}

Status check_any_readable(const std::vector<std::string>& paths, const Console& console) {
  std::vector<Status> reasons;
  for (const std::string& path : paths) {
    const Result<Image> picture = read_image(path);
    if (picture.ok()) return {};
    reasons.push_back(picture.status());
  }
  if (paths.size() > 1) {
    for (const Status& reason : reasons) console.warn(reason.what());
  }
  return refuse(
      paths,
      fmt::format("none of {} can be read.", plural(std::ssize(paths), "picture", "pictures")),
      reasons.front());
}

}  // namespace engram
