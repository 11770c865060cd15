// A state of many classes for measuring how long the program takes to start with it: made-up features,
// each class around a centre of its own, through the store as the program uses it.
//
//     many_classes HOME MODEL STATE CLASSES SAMPLES_OF_EACH HIDDEN
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "engine/model_store.h"
#include "engine/recogniser.h"
#include "engine/store.h"

namespace engram {
namespace {

SampleBatch samples_of(int number, int count, int features) {
  std::mt19937 random(static_cast<std::uint32_t>(number));
  std::vector<int> centre(static_cast<std::size_t>(features));
  for (int& value : centre) value = static_cast<int>(random() % 100);
  SampleBatch batch;
  for (int sample = 0; sample < count; ++sample) {
    batch.labels.push_back("thing " + std::to_string(number));
    for (const int value : centre) {
      batch.rows.push_back(static_cast<std::byte>(value + static_cast<int>(random() % 20)));
    }
  }
  return batch;
}

Status make(char** words) {
  ENGRAM_ASSIGN(const StoredModel model, ModelStore(words[0]).find(words[1]));
  LearnerConfig config;
  config.hidden = std::atoi(words[5]);
  ENGRAM_ASSIGN(Store store, Store::create(words[2], config_for(model.card, config)));
  const int classes = std::atoi(words[3]);
  for (int number = 0; number < classes; ++number) {
    ENGRAM_TRY(store.learn(samples_of(number, std::atoi(words[4]), model.card.features)));
  }
  return store.end_task().status();
}

}  // namespace
}  // namespace engram

int main(int count, char** words) {
  if (count != 7) return std::fputs("see many_classes.cpp\n", stderr), 64;
  const engram::Status status = engram::make(words + 1);
  if (!status.ok()) std::fprintf(stderr, "error: %s\n", status.what());
  return status.ok() ? 0 : 1;
}
