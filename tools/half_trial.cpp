#include "tools/half_trial.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/recogniser.h"
#include "kernels/kernels.h"
#include "platform/file.h"
#include "platform/finite.h"
#include "platform/onnx_half.h"
#include "tools/convert/onnx_check.h"
#include "tools/convert/scratch_folder.h"
#include "tools/features/feature_tree.h"

namespace engram {

namespace {

// The model in half, as a file in `folder` that the CPU runs as a GPU would.
Result<FeatureExtractor> open_half(const StoredModel& model, const ScratchFolder& folder,
                                   int threads, HalfTrial& trial) {
  ENGRAM_ASSIGN(const auto bytes, read_file(model.onnx, kMaxOnnx));
  ENGRAM_ASSIGN(const HalfOnnx half, onnx_to_half(bytes, model.onnx, model.card.output));
  trial.half_operations = half.half_operations;
  trial.float_operations = half.float_operations;
  trial.casts = half.casts;
  const std::string path = folder.path() + "/half.onnx";
  ENGRAM_TRY(replace_file(path, std::as_bytes(std::span(half.file))));
  ENGRAM_ASSIGN(auto backbone, open_backbone_openvino({.model = path,
                                                       .output = model.card.output,
                                                       .height = model.card.preprocess.crop,
                                                       .width = model.card.preprocess.crop,
                                                       .threads = threads,
                                                       .round_halves = true}));
  return FeatureExtractor::create(model.card, std::move(backbone));
}

void count_bytes(const LearnerConfig& config, const FeatureSet& full, const FeatureSet& half,
                 HalfTrial& trial) {
  const auto quantised = [&](const FeatureSet& set) {
    std::vector<std::int8_t> bytes(set.x.size());
    std::vector<std::int32_t> not_finite(set.y.size());
    const Status done = kCpuKernels.quantise({}, set.view(), config.feature_scale,
                                             {bytes.data(), set.rows(), set.width, set.width},
                                             {not_finite.data(), 1, set.rows(), set.rows()});
    ENGRAM_CHECK(done.ok());
    return bytes;
  };
  const auto a = quantised(full), b = quantised(half);
  trial.values += std::ssize(a);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const int step = std::abs(a[i] - b[i]);
    trial.other_bytes += step != 0;
    trial.largest_step = std::max(trial.largest_step, step);
  }
}

}  // namespace

Status compare_labels(Learner& learner, const FeatureSet& full, const FeatureSet& half,
                      HalfTrial& trial) {
  ENGRAM_CHECK(full.rows() == half.rows() && full.width == half.width);
  if (!are_finite(half.x)) {
    return Status(Code::bad_data,
                  "in half precision some features are no finite numbers: a value within the model "
                  "is beyond 65504. It must run in float.");
  }
  std::vector<Prediction> by_full(full.y.size()), by_half(full.y.size());
  ENGRAM_TRY(learner.classify(full.view(), by_full));
  ENGRAM_TRY(learner.classify(half.view(), by_half));
  const auto& classes = learner.readout()->classes;
  for (std::size_t i = 0; i < full.y.size(); ++i) {
    const std::string& truth = full.classes[std::size_t(full.y[i])];
    trial.same += by_full[i].class_index == by_half[i].class_index;
    trial.right_float += classes[std::size_t(by_full[i].class_index)] == truth;
    trial.right_half += classes[std::size_t(by_half[i].class_index)] == truth;
  }
  trial.pictures += full.rows();
  count_bytes(learner.config(), full, half, trial);
  return {};
}

Result<HalfTrial> try_half(const StoredModel& model, const HalfTrialSource& source,
                           const Console& console) {
  HalfTrial trial;
  ENGRAM_ASSIGN(const ScratchFolder folder, ScratchFolder::make());
  ENGRAM_ASSIGN(FeatureExtractor half_model, open_half(model, folder, source.threads, trial));
  ENGRAM_ASSIGN(FeatureExtractor full_model,
                FeatureExtractor::open(model, {.threads = source.threads}));
  const DataSource tree{.train = source.train, .test = source.test, .domains = {}};
  std::int64_t skipped = 0;
  ENGRAM_ASSIGN(const FeatureSet train,
                read_feature_tree(tree, source.train, "train", full_model, console, skipped));
  ENGRAM_ASSIGN(const FeatureSet full, read_feature_tree(tree, source.test, "test in float",
                                                         full_model, console, skipped));
  ENGRAM_ASSIGN(const FeatureSet half,
                read_feature_tree(tree, source.test, "test in half", half_model, console, skipped));
  ENGRAM_ASSIGN(Learner learner, Learner::create(config_for(model.card, {})));
  std::vector<std::string> labels;
  for (const int index : train.y) labels.push_back(train.classes[std::size_t(index)]);
  ENGRAM_TRY(learner.learn(train.view(), labels));
  ENGRAM_ASSIGN(const ReadoutReport report, learner.end_task());
  static_cast<void>(report);
  ENGRAM_TRY(compare_labels(learner, full, half, trial));
  return trial;
}

}  // namespace engram
