// A store with a random past, and what it should hold.
#pragma once

#include <filesystem>
#include <string>

#include "engine/store.h"
#include "tests/support/catch.h"
#include "tests/support/edit_model.h"

namespace engram::test {

// The model's samples without those of the last step, or of a label.
inline void without_step(EditModel& model) {
  const int last = model.samples.back().step;
  std::erase_if(model.samples, [&](const auto& sample) { return sample.step == last; });
}

// A store with a random past: batches, ends of tasks, compactions, edits.
inline Store live(const std::string& directory, const LearnerConfig& config, unsigned seed,
                  EditModel& model, FileSystem& files) {
  std::filesystem::remove_all(directory);
  Store store = Store::create(directory, config, files).value();
  if (seed % 5 == 2) {  // sums from the start, with rows beside them if they are kept
    const SampleBatch batch = model.batch(60);
    REQUIRE(store.learn(batch).ok());
    model.learned(batch, StepPart::begins);
  }
  for (unsigned events = model.draw(10) + seed % 2; events > 0; --events) {
    switch (model.draw(9)) {
      case 0:
        if (store.learner().samples() > 0) REQUIRE(store.end_task().ok());
        break;
      case 1:
        REQUIRE(store.compact().ok());
        break;
      case 2:
        if (!config.keep_features || model.samples.empty()) break;
        REQUIRE(store.undo().ok());
        without_step(model);
        break;
      case 3: {
        if (!config.keep_features || model.samples.empty()) break;
        const std::string label = model.samples.front().label;
        REQUIRE(store.forget(label).ok());
        std::erase_if(model.samples, [&](const auto& sample) { return sample.label == label; });
        break;
      }
      default: {
        const SampleBatch batch = model.batch();
        REQUIRE(store.learn(batch).ok());
        model.learned(batch, StepPart::begins);
      }
    }
  }
  return store;
}

}  // namespace engram::test
