// What a store should hold, written down sample by sample, and random histories for both.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "engine/store.h"
#include "tests/support/small_store.h"

namespace engram::test {

struct ModelSample {
  std::int64_t id = 0;
  int step = 0;
  std::string label;
  std::vector<std::byte> row;
};

class EditModel {
 public:
  EditModel(const LearnerConfig& config, unsigned seed) : config_(config), random_(seed) {}

  unsigned draw(unsigned below) { return unsigned(random_()) % below; }
  std::string label() { return "class " + std::to_string(draw(5)); }

  // 1 to 6 samples of random classes.
  SampleBatch batch() { return batch(draw(6) + 1); }
  SampleBatch batch(unsigned count) {
    SampleBatch batch;
    const std::string first = label();
    for (unsigned i = count; i > 0; --i) {
      batch.labels.push_back(draw(3) == 0 ? label() : first);
      for (int l = 0; l < config_.features; ++l) {
        batch.rows.push_back(std::byte(int(draw(200)) - 100));
      }
    }
    return batch;
  }
  void learned(const SampleBatch& batch, StepPart part) {
    if (part == StepPart::begins) ++step_;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto row = batch.rows.begin() + std::ptrdiff_t(i) * config_.features;
      samples.push_back({++last_id_, step_, batch.labels[i], {row, row + config_.features}});
    }
  }
  // Ids up to here can no longer be told apart.
  void snapshot() { snapshot_id_ = last_id_; }
  bool at_hand(const ModelSample& sample) const {
    return config_.keep_features || sample.id > snapshot_id_;
  }

  // The learner that saw what remains, and nothing else.
  Learner fresh() const {
    Learner learner = Learner::create(config_).value();
    SampleBatch all;
    for (const ModelSample& sample : samples) {
      all.labels.push_back(sample.label);
      all.rows.insert(all.rows.end(), sample.row.begin(), sample.row.end());
    }
    ENGRAM_CHECK(learner.learn(all).ok());
    return learner;
  }

  std::vector<ModelSample> samples;

 private:
  LearnerConfig config_;
  std::mt19937 random_;
  int step_ = 0;
  std::int64_t last_id_ = 0;
  std::int64_t snapshot_id_ = 0;
};

inline std::vector<ClassInfo> by_name(std::vector<ClassInfo> classes) {
  std::sort(classes.begin(), classes.end(),
            [](const ClassInfo& a, const ClassInfo& b) { return a.label < b.label; });
  return classes;
}

}  // namespace engram::test
