#include "tools/adapt_model.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engine/calibrate.h"
#include "engine/feature_extractor.h"
#include "engine/vit_network.h"
#include "platform/arena.h"
#include "platform/file.h"
#include "platform/hash.h"
#include "tools/convert/calibration_pictures.h"
#include "tools/convert/vit_write.h"
#include "tools/nearest_mean_trial.h"
#include "tools/progress.h"
#include "tools/terminal.h"
#include "tools/units.h"

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

// By our own forward, (samples.size(), L).
Result<SharedVector<float>> our_features(const AdaptRun& run, const AdaptParameters& parameters,
                                         const std::vector<int>& samples) {
  const VitModel& model = run.model();
  const AdaptSettings& settings = run.training().settings();
  const int count = int(samples.size()), size = 3 * model.shape.image * model.shape.image;
  const VitWork work =
      VitWork::of(model.shape, model.input_norm.has_value(), &settings, /*pictures=*/1);
  BufferList counted(nullptr);
  const VitBuffers planned(work, counted);
  ENGRAM_ASSIGN(Arena arena, Arena::create(std::size_t(counted.bytes())));
  BufferList list(&arena);
  const VitBuffers buffers(work, list);
  VitNetwork network(model, chosen_kernels(), buffers, settings.branch_scale);
  const auto adapt =
      views_of<const float>(parameters.slices, model.shape.blocks, parameters.values.data());
  const auto values = std::size_t(count) * std::size_t(model.shape.features);
  SharedVector<float> tensor(static_cast<std::size_t>(size)), features(values);
  for (int i = 0; i < count; ++i) {
    ENGRAM_TRY(run.pictures().tensors(std::span(samples).subspan(std::size_t(i), 1), -1, 0,
                                      {tensor.data(), 1, size, size}));
    const int width = model.shape.features;
    ENGRAM_TRY(network.forward({tensor.data(), 1, size, size}, adapt, {},
                               {features.data() + std::ptrdiff_t{i} * width, 1, width, width}));
  }
  return features;
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

// The largest |a - b| / |a| of a row.
double largest_difference(std::span<const float> ours, std::span<const float> theirs, int width) {
  double largest = 0;
  for (std::size_t row = 0; row < ours.size(); row += std::size_t(width)) {
    double apart = 0, length = 0;
    for (std::size_t i = row; i < row + std::size_t(width); ++i) {
      apart += (double(ours[i]) - theirs[i]) * (double(ours[i]) - theirs[i]);
      length += double(ours[i]) * ours[i];
    }
    const double difference = std::sqrt(apart / length);
    if (!(difference <= largest)) largest = difference;  // NaN too
  }
  return largest;
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
  const std::vector<int> samples = some_samples(run, kMostCalibrationPictures);
  ENGRAM_ASSIGN(const std::vector<float> features, backbone_features(run, extractor, samples));
  const int width = card.features;
  const std::vector<int> compared(
      samples.begin(),
      samples.begin() + std::min<std::ptrdiff_t>(std::ssize(samples), kComparedPictures));
  ENGRAM_ASSIGN(const SharedVector<float> ours, our_features(run, parameters, compared));
  made.difference =
      largest_difference({ours.data(), ours.size()}, {features.data(), ours.size()}, width);
  if (!(made.difference <= kMostDifference)) {
    return Status(
        Code::internal,
        fmt::format("the adapted model as ONNX gives other features than were trained (off "
                    "by {:.2g}, at most {:.0e} was expected). It was not stored; the "
                    "models are as they were.",
                    made.difference, kMostDifference));
  }
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
