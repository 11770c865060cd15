// A store small enough to be cut at every byte: M 100, L 6, a few samples.
#pragma once

#include <cstdint>
#include <string>

#include "engine/store.h"

namespace engram::test {

LearnerConfig small_config();
// Two samples, of the classes "red" and "blue", different for every number.
SampleBatch small_batch(std::int64_t number);
// More samples than the factored form of small_config() holds.
SampleBatch large_batch();
// A new one that learned the batches 0 to batches - 1.
Store small_store(const std::string& directory, int batches);
// `to` becomes what `from` is, whatever it was: for a case that changes or damages it.
void copy_store(const std::string& from, const std::string& to);

// What a person would compare: sequence, samples, tasks, and the bits of the statistics.
struct StoreContent {
  std::int64_t sequence = 0;
  std::int64_t samples = 0;
  std::int64_t task_samples = 0;
  int tasks = 0;
  std::string digest;
  SharedVector<float> weights;  // of the readout
  SharedVector<float> feature_weights;
  std::vector<std::int64_t> ids;  // of the samples kept, in either form
  std::vector<std::byte> rows;
  bool operator==(const StoreContent&) const = default;
};
StoreContent content(const Store& store);
StoreContent content(const Learner& learner, std::int64_t sequence);
// Opened for writing, which repairs what can be repaired; without waiting for the disk.
Result<StoreContent> reopened(const std::string& directory);

}  // namespace engram::test
