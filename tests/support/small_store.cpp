#include "tests/support/small_store.h"

#include <filesystem>
#include <random>

#include "tests/support/fault_files.h"

namespace engram::test {

LearnerConfig small_config() {
  LearnerConfig config;
  config.backbone = std::string(64, 'a');
  config.features = 6;
  config.hidden = 100;
  config.feature_scale = 1;
  config.hidden_mul = 4096;
  config.lambda_rule = LambdaRule::fixed;
  config.lambda = 10;
  return config;
}

SampleBatch small_batch(std::int64_t number) {
  std::mt19937 random(std::uint32_t(number) + 1);
  SampleBatch batch{.labels = {"red", "blue"}, .rows = {}};
  for (int i = 0; i < 2 * 6; ++i) batch.rows.push_back(std::byte(int(random() % 200) - 100));
  return batch;
}

SampleBatch large_batch() {
  SampleBatch batch;
  for (int i = 0; i < 30; ++i) {
    const SampleBatch two = small_batch(1000 + i);
    batch.labels.insert(batch.labels.end(), two.labels.begin(), two.labels.end());
    batch.rows.insert(batch.rows.end(), two.rows.begin(), two.rows.end());
  }
  return batch;
}

Store small_store(const std::string& directory, int batches) {
  Store store = Store::create(directory, small_config()).value();
  for (int i = 0; i < batches; ++i) ENGRAM_CHECK(store.learn(small_batch(i)).ok());
  return store;
}

void copy_store(const std::string& from, const std::string& to) {
  std::filesystem::remove_all(to);
  std::filesystem::copy(from, to);
}

StoreContent content(const Store& store) {
  return content(store.learner(), store.sequence());
}

StoreContent content(const Learner& learner, std::int64_t sequence) {
  const auto readout = learner.readout();
  const LearnedSamples kept = learner.kept_samples();
  return {sequence,
          learner.samples(),
          learner.task_samples(),
          learner.tasks(),
          learner.digest(),
          readout ? readout->weights : SharedVector<float>(),
          readout ? readout->feature_weights : SharedVector<float>(),
          kept.ids,
          kept.batch.rows};
}

Result<StoreContent> reopened(const std::string& directory) {
  UnsyncedFiles files;
  ENGRAM_ASSIGN(const Store store, Store::open(directory, files));
  return content(store);
}

}  // namespace engram::test
