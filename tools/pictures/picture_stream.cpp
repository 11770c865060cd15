#include "tools/pictures/picture_stream.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "platform/steady_time.h"
#include "platform/threads.h"
#include "tools/console/progress.h"
#include "tools/console/units.h"
#include "tools/features/finite_features.h"
#include "tools/pictures/picture_loader.h"

namespace engram {
namespace {

constexpr std::size_t kBatchBytes = 192 << 20;  // decoded pictures of one batch, about

}  // namespace

nlohmann::ordered_json skipped_json(const std::vector<SkippedPicture>& skipped) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const SkippedPicture& one : skipped) {
    list.push_back({{"path", one.path}, {"why", one.why.what()}});
  }
  return list;
}

void log_skipped(const Console& console, std::int64_t skipped, const char* done) {
  if (skipped == 0) return;
  console.log(fmt::format("{} skipped, {}named above; the rest is {}",
                          plural(skipped, "input was", "inputs were"), skipped == 1 ? "" : "each ",
                          done));
}

Result<std::vector<SkippedPicture>> stream_pictures(const std::vector<std::string>& paths,
                                                    const char* what, const Console& console,
                                                    const PictureSink& sink,
                                                    const std::function<void()>& say) {
  std::vector<SkippedPicture> skipped;
  std::vector<Image> pictures;
  std::vector<std::size_t> indices;
  std::size_t bytes = 0;
  PictureLoader loader(paths, thread_count());
  Progress progress(console.shows_progress(), what, std::ssize(paths), "img");
  for (std::size_t i = 0; i < paths.size(); ++i) {
    Result<Image> picture = *loader.next();
    if (picture.ok()) {
      bytes += picture->rgb.size();
      pictures.push_back(std::move(picture).value());
      indices.push_back(i);
    } else {
      skipped.push_back({paths[i], picture.status()});
      progress.advance();
    }
    const bool full = std::ssize(pictures) == kPicturesPerBatch || bytes > kBatchBytes;
    if (full || (i + 1 == paths.size() && !pictures.empty())) {
      const Status status = sink(indices, pictures, skipped);
      if (say) progress.without_bar(say);
      ENGRAM_TRY(status);
      progress.advance(std::ssize(pictures));
      pictures.clear();
      indices.clear();
      bytes = 0;
    }
  }
  progress.finish();  // before the warnings: they would land in the bar
  for (const SkippedPicture& one : skipped) console.warn(one.why.what());
  return skipped;
}

Result<FeatureTable> read_features(FeatureExtractor& extractor,
                                   const std::vector<std::string>& paths, const char* what,
                                   const Console& console) {
  const double start = seconds_now();
  FeatureTable table;
  table.width = extractor.features();
  table.values.reserve(paths.size() * table.width);
  const auto extract = [&](std::span<const std::size_t> indices, std::span<const Image> pictures,
                           std::vector<SkippedPicture>& skipped) -> Status {
    std::size_t end = table.values.size();
    table.values.resize(end + pictures.size() * table.width);
    const MatrixView<float> rows{table.values.data() + end, static_cast<int>(pictures.size()),
                                 table.width, table.width};
    ENGRAM_TRY(extractor.extract(pictures, rows));
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      const std::span<const float> row(rows.row(int(i)), std::size_t(table.width));
      if (Status status = check_finite_features(paths[indices[i]], row); !status.ok()) {
        skipped.push_back({paths[indices[i]], std::move(status)});
        continue;
      }
      std::copy(row.begin(), row.end(), table.values.begin() + std::ptrdiff_t(end));
      end += row.size();
      table.indices.push_back(indices[i]);
    }
    table.values.resize(end);
    return {};
  };
  ENGRAM_ASSIGN(table.skipped, stream_pictures(paths, what, console, extract));
  table.seconds = seconds_now() - start;
  return table;
}

}  // namespace engram
