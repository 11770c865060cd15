#include "tools/adapt/adapt_model.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/calibrate.h"
#include "engine/feature_extractor.h"
#include "platform/file.h"
#include "platform/hash.h"
#include "tools/adapt/nearest_mean_trial.h"
#include "tools/console/progress.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/convert/calibration_pictures.h"
#include "tools/convert/vit_check.h"
#include "tools/convert/vit_write.h"

namespace engram {
namespace {

constexpr int kComparedPictures = 8, kBatch = 8;

// At most `most` of the samples, evenly.
std::vector<int> some_samples(const AdaptRun& run, int most) {
  const int count = run.pictures().count(), step = std::max(1, count / most);
  std::vector<int> samples;
  for (int i = 0; i < count && std::ssize(samples) < most; i += step) samples.push_back(i);
  return samples;
}

Result<std::vector<float>> backbone_features(const AdaptRun& run, FeatureExtractor& extractor,
                                             const std::vector<int>& samples) {
  const int width = extractor.features();
  std::vector<float> features(samples.size() * std::size_t(width));
  for (std::size_t first = 0; first < samples.size(); first += kBatch) {
    std::vector<Image> batch;
    for (std::size_t i = first; i < std::min(samples.size(), first + kBatch); ++i) {
      ENGRAM_ASSIGN(Image picture, run.pictures().picture(samples[i]));
      batch.push_back(std::move(picture));
    }
    ENGRAM_TRY(extractor.extract(
        batch, {features.data() + first * std::size_t(width), int(batch.size()), width, width}));
  }
  return features;
}

// That the file gives what was trained.
Result<double> check_file(const AdaptRun& run, FeatureExtractor& extractor,
                          const AdaptParameters& parameters) {
  std::vector<Image> pictures;
  for (const int sample : some_samples(run, kComparedPictures)) {
    ENGRAM_ASSIGN(Image picture, run.pictures().picture(sample));
    pictures.push_back(std::move(picture));
  }
  ENGRAM_ASSIGN(const double difference,
                vit_difference(run.model(), extractor, pictures, &parameters));
  if (difference <= kMostVitDifference) return difference;
  return Status(
      Code::internal,
      fmt::format("the adapted model as ONNX gives other features than were trained (off "
                  "by {:.2g}, at most {:.0e} was expected). It was not stored; the models "
                  "are as they were.",
                  difference, kMostVitDifference));
}

}  // namespace

Result<std::string> adapted_name(const std::string& parent, AdaptMethod method,
                                 const std::string& as_name) {
  const std::string made = as_name.empty() ? fmt::format("{}-{}", parent, name(method)) : as_name;
  if (is_model_name(made)) return made;
  return Status(Code::invalid_argument,
                fmt::format("\"{}\" is not a name for a model: choose one with --as, of 1 to 64 "
                            "letters, digits, dots, dashes and underscores",
                            printable(made)));
}

std::string adapted_text(const AdaptRun& run) {
  const AdaptSettings& settings = run.training().settings();
  const int kept = best_epoch(run.training().curves()) + 1;
  return fmt::format("{}, {}, {}, {}, seed {}", name(settings.method),
                     kept == settings.epochs ? plural(kept, "epoch", "epochs")
                                             : fmt::format("epoch {} of {}", kept, settings.epochs),
                     plural(std::ssize(run.task().classes), "class", "classes"),
                     plural(std::ssize(run.task().labels), "picture", "pictures"), settings.seed);
}

Result<AdaptedModel> make_adapted_model(const AdaptRun& run, const std::string& name,
                                        const ScratchFolder& folder, const Console& console) {
  const AdaptParameters parameters = run.best();
  const StoredModel& parent = run.request().parent;
  AdaptedModel made;
  ModelCard& card = made.stored.card;
  card = parent.card;
  card.name = name;
  card.source = fmt::format("adapted from {} by engram adapt", parent.card.name);
  card.parent = fmt::format("{} {}", parent.card.name, parent.card.sha256);
  card.adapted = adapted_text(run);
  card.output = kVitFeatures;
  card.features = run.model().shape.features;
  made.stored.onnx = folder.path() + "/model.onnx";
  {
    const Progress progress(console.shows_progress(), "write");
    const std::string onnx = vit_onnx(run.model(), &parameters);
    ENGRAM_TRY(replace_file(made.stored.onnx, std::as_bytes(std::span(onnx))));
    ENGRAM_ASSIGN(card.sha256, sha256_of_file(made.stored.onnx));
  }
  ENGRAM_ASSIGN(
      FeatureExtractor extractor,
      FeatureExtractor::open(made.stored, {.threads = run.request().threads, .batch = kBatch}));
  ENGRAM_ASSIGN(made.difference, check_file(run, extractor, parameters));
  const std::vector<int> samples = some_samples(run, kMostCalibrationPictures);
  ENGRAM_ASSIGN(const std::vector<float> features, backbone_features(run, extractor, samples));
  const int width = card.features;
  ENGRAM_ASSIGN(const Calibration calibration,
                calibrate({features.data(), int(samples.size()), width, width}));
  card.feature_scale = calibration.feature_scale;
  card.hidden_mul = calibration.hidden_mul;
  card.calibration_pictures = int(samples.size());
  ENGRAM_ASSIGN(made.after,
                try_nearest_mean(extractor, run.pictures(), run.task().held_out, "after", console));
  return made;
}

}  // namespace engram
