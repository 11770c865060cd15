#include "engine/protocol_head.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "engine/feature_check.h"
#include "engine/learner_heads.h"
#include "engine/linear_probe.h"
#include "engine/nearest_mean.h"
#include "engine/queue_head.h"
#include "engine/readout_kinds.h"
#include "engine/statistics_head.h"

namespace engram {
namespace {

struct HeadInfo {
  Head head;
  const char* name;
  bool projects, has_lambda;
};
constexpr HeadInfo kHeads[] = {
    {Head::ranpac, "ranpac", true, true},
    {Head::no_projection, "no-projection", false, true},
    {Head::pairwise, "pairwise", false, true},
    {Head::ncm, "ncm", false, false},
    {Head::lda, "lda", false, false},
    {Head::rp_lda, "rp-lda", true, false},
    {Head::scaled, "scaled", true, true},
    {Head::balanced, "balanced", true, true},
    {Head::regression, "regression", true, true},
    {Head::probe, "probe", false, false},
    {Head::engram, "engram", true, true},
};
const HeadInfo& info(Head head) {
  return kHeads[std::size_t(head)];
}

class NearestMeanHead : public ProtocolHead {
 public:
  explicit NearestMeanHead(int features) : means_(features) {}
  Status learn(MatrixView<const float> features, std::span<const std::string> labels) override {
    return means_.learn(features, labels);
  }
  Result<ReadoutReport> end_task() override { return ReadoutReport{}; }
  Status classify(MatrixView<const float> features, std::span<Prediction> predictions) override {
    return means_.classify(features, predictions);
  }
  std::vector<ClassInfo> classes() const override { return means_.classes(); }

 private:
  NearestMean means_;
};

// Keeps all samples and trains anew at each end of a task: no continual learner, a yardstick.
class ProbeHead : public ProtocolHead {
 public:
  explicit ProbeHead(int features) : features_(features) {}
  Status learn(MatrixView<const float> features, std::span<const std::string> labels) override {
    ENGRAM_TRY(check_features(features, features_));
    for (int b = 0; b < features.rows; ++b) {
      rows_.insert(rows_.end(), features.row(b), features.row(b) + features.cols);
      const auto [found, is_new] = index_.emplace(labels[std::size_t(b)], int(classes_.size()));
      if (is_new) classes_.push_back({labels[std::size_t(b)], 0});
      ++classes_[std::size_t(found->second)].samples;
      numbers_.push_back(found->second);
    }
    return {};
  }
  Result<ReadoutReport> end_task() override {
    probe_ = LinearProbe::train({rows_.data(), int(numbers_.size()), features_, features_},
                                numbers_, int(classes_.size()));
    return ReadoutReport{};
  }
  Status classify(MatrixView<const float> features, std::span<Prediction> predictions) override {
    ENGRAM_TRY(check_features(features, features_));
    const int classes = int(classes_.size());
    std::vector<float> scores(std::size_t(features.rows) * classes_.size());
    const MatrixView<float> view{scores.data(), features.rows, classes, classes};
    probe_.score(features, view);
    take_best(view, predictions);
    return {};
  }
  std::vector<ClassInfo> classes() const override { return classes_; }

 private:
  int features_;
  std::vector<float> rows_;
  std::vector<int> numbers_;
  std::vector<ClassInfo> classes_;
  std::map<std::string, int> index_;
  LinearProbe probe_;
};

// Rows of `targets` in the order in which a learner met the classes.
LearnerHead::Reshape on_targets(MatrixView<const float> targets,
                                const std::vector<std::string>& class_names) {
  std::map<std::string, int> row;
  for (std::size_t k = 0; k < class_names.size(); ++k) row[class_names[k]] = int(k);
  return [targets, row](const Readout& readout, const std::vector<ClassInfo>&) {
    std::vector<float> ordered;
    for (const std::string& label : readout.classes) {
      const float* values = targets.row(row.at(label));
      ordered.insert(ordered.end(), values, values + targets.cols);
    }
    return readout_on_targets(
        readout, {ordered.data(), int(readout.classes.size()), targets.cols, targets.cols});
  };
}

Readout scaled_by_counts(const Readout& readout, const std::vector<ClassInfo>& classes) {
  return scaled_readout(readout, counts_of(classes));
}

template <class HeadType, class... Arguments>
std::unique_ptr<ProtocolHead> head_of(Arguments&&... arguments) {
  return std::make_unique<HeadType>(std::forward<Arguments>(arguments)...);
}

}  // namespace

const char* name(Head head) {
  return info(head).name;
}
bool projects(Head head) {
  return info(head).projects;
}
bool has_lambda(Head head) {
  return info(head).has_lambda;
}

Result<Head> parse_head(const std::string& text) {
  std::string all;
  for (const HeadInfo& one : kHeads) {
    if (text == one.name) return one.head;
    all += all.empty() ? one.name : fmt::format(", {}", one.name);
  }
  return Status(Code::invalid_argument,
                fmt::format("head is \"{}\"; it can be one of: {}.", text, all));
}

void take_best(MatrixView<const float> scores, std::span<Prediction> predictions) {
  for (int b = 0; b < scores.rows; ++b) {
    const float* row = scores.row(b);
    const float* best = std::max_element(row, row + scores.cols);
    predictions[std::size_t(b)] = {int(best - row), *best};
  }
}

Result<std::unique_ptr<ProtocolHead>> make_head(const ProtocolOptions& options, int features,
                                                const std::vector<std::string>& class_names,
                                                const Kernels& kernels) {
  const Head head = options.head;
  LearnerConfig config = options.config;
  config.features = head == Head::pairwise ? PairwiseHead::width(features) : features;
  if (head != Head::engram) config.readout = ReadoutKind::ridge;
  if (!projects(head)) {
    config.hidden = 0;
    config.arithmetic = Arithmetic::floating;
  }
  if (head == Head::ncm) return head_of<NearestMeanHead>(features);
  if (head == Head::probe) return head_of<ProbeHead>(features);
  if (head == Head::lda || head == Head::rp_lda || head == Head::balanced) {
    return StatisticsHead::create({config, options.shrinkage, head == Head::balanced}, kernels);
  }
  if (head == Head::regression && std::size_t(options.targets.rows) != class_names.size()) {
    return Status(Code::invalid_argument,
                  fmt::format("Regression needs one target for each of the {} classes; there are "
                              "{}.",
                              class_names.size(), options.targets.rows));
  }
  ENGRAM_ASSIGN(Learner learner, Learner::create(config, kernels));
  if (options.queue > 0 && (head == Head::engram || head == Head::ranpac)) {
    return head_of<QueueHead>(std::move(learner), options.queue);
  }
  if (head == Head::scaled) return head_of<LearnerHead>(std::move(learner), scaled_by_counts);
  if (head == Head::regression) {
    return head_of<LearnerHead>(std::move(learner), on_targets(options.targets, class_names));
  }
  std::unique_ptr<ProtocolHead> plain = head_of<LearnerHead>(std::move(learner));
  if (head == Head::pairwise) return head_of<PairwiseHead>(std::move(plain));
  return plain;
}

}  // namespace engram
