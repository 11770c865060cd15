// Learners that have learned samples of a test, and what tests ask of one: its scores and answers, and
// what a file brings back of it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/learner.h"
#include "tests/support/catch.h"
#include "tests/support/synthetic.h"

namespace engram::test {

inline Learner learner_of(const LearnerConfig& config) {
  return std::move(Learner::create(config)).value();
}

// Samples [first, first + count), in a task that is still open.
inline Learner taught(const LearnerConfig& config, const Samples& samples, int first, int count) {
  Learner learner = learner_of(config);
  REQUIRE(learner.learn(samples.features(first, count), samples.names(first, count)).ok());
  return learner;
}

// All samples as one task that has ended: there is a readout.
inline Learner taught_task(const LearnerConfig& config, const Samples& samples) {
  Learner learner = taught(config, samples, 0, samples.count());
  REQUIRE(learner.end_task().ok());
  return learner;
}

// (count, K), row by row.
inline std::vector<float> scores_of(Learner& learner, const Readout& readout,
                                    const Samples& samples) {
  const int classes = int(readout.classes.size());
  std::vector<float> scores(std::size_t(samples.count() * classes));
  REQUIRE(
      learner.score(samples.features(), readout, {scores.data(), samples.count(), classes, classes})
          .ok());
  return scores;
}

// The part of the samples that get their own label.
inline double accuracy(Learner& learner, const Samples& samples) {
  std::vector<Prediction> predictions(std::size_t(samples.count()));
  REQUIRE(learner.classify(samples.features(), predictions).ok());
  const auto readout = learner.readout();
  int right = 0;
  for (int b = 0; b < samples.count(); ++b) {
    const int found = predictions[std::size_t(b)].class_index;
    right += readout->classes[std::size_t(found)] == samples.labels[std::size_t(b)];
  }
  return double(right) / samples.count();
}

// Saved to `path` and loaded again.
inline Result<Learner> round_trip(const Learner& learner, const std::string& path) {
  SnapshotWriter writer = std::move(SnapshotWriter::create(path)).value();
  REQUIRE(learner.save(writer).ok());
  REQUIRE(writer.commit().ok());
  ENGRAM_ASSIGN(const SnapshotReader reader, SnapshotReader::open(path));
  return Learner::load(reader);
}

}  // namespace engram::test
