#include "tools/bench/model_bench.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/feature_extractor.h"
#include "platform/steady_time.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/estimate_report.h"

namespace engram {
namespace {

Image shown_picture() {
  Image image{.width = 320, .height = 240, .rgb = {}};
  for (int i = 0; i < 3 * image.width * image.height; ++i) {
    image.rgb.push_back(static_cast<std::uint8_t>(127.5 + 120 * std::sin(0.01 * i)));
  }
  return image;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Result<std::vector<ModelTime>> bench_models(const std::vector<StoredModel>& models, int turns,
                                            int threads, const std::function<void()>& turn_done) {
  std::vector<FeatureExtractor> extractors;
  for (const StoredModel& model : models) {
    ENGRAM_ASSIGN(FeatureExtractor extractor,
                  FeatureExtractor::open(model, {.threads = threads, .batch = 1}));
    extractors.push_back(std::move(extractor));
  }
  const Image picture = shown_picture();
  const std::size_t count = models.size();
  std::vector<std::vector<double>> seconds(count);
  for (int turn = 0; turn <= turns; ++turn) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = (std::size_t(turn) + i) % count;
      const int width = extractors[at].features();
      std::vector<float> features(static_cast<std::size_t>(width));
      const double start = seconds_now();
      ENGRAM_TRY(extractors[at].extract({&picture, 1}, {features.data(), 1, width, width}));
      if (turn > 0) seconds[at].push_back(seconds_now() - start);
    }
    if (turn > 0 && turn_done) turn_done();
  }
  std::vector<ModelTime> times;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<double> ratios;
    for (std::size_t turn = 0; turn < seconds[i].size(); ++turn) {
      ratios.push_back(seconds[i][turn] / seconds[0][turn]);
    }
    times.push_back({.model = models[i].card.name,
                     .features = extractors[i].features(),
                     .median = median_of(seconds[i]),
                     .least = *std::ranges::min_element(seconds[i]),
                     .ratio = median_of(ratios)});
  }
  return times;
}

std::string model_times_text(const std::vector<ModelTime>& times, bool colour) {
  Table table({{"model"},
               {"features", Align::right},
               {"median", Align::right},
               {"least", Align::right},
               {"beside the first", Align::right}});
  for (const ModelTime& time : times) {
    table.add({printable(time.model), fmt::to_string(time.features), time_text(time.median),
               time_text(time.least), fmt::format("{:.3f}", time.ratio)});
  }
  return table.text(colour);
}

nlohmann::ordered_json model_times_json(const std::vector<ModelTime>& times) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const ModelTime& time : times) {
    rows.push_back({{"model", time.model},
                    {"features", time.features},
                    {"median_seconds", time.median},
                    {"least_seconds", time.least},
                    {"ratio", time.ratio}});
  }
  return rows;
}

}  // namespace engram
