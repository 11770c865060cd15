// What tests ask of a learner: its scores, and what a file brings back of it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/learner.h"
#include "tests/support/catch.h"
#include "tests/support/synthetic.h"

namespace engram::test {

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

// Saved to `path` and loaded again.
inline Result<Learner> round_trip(const Learner& learner, const std::string& path) {
  SnapshotWriter writer = std::move(SnapshotWriter::create(path)).value();
  REQUIRE(learner.save(writer).ok());
  REQUIRE(writer.commit().ok());
  ENGRAM_ASSIGN(const SnapshotReader reader, SnapshotReader::open(path));
  return Learner::load(reader);
}

}  // namespace engram::test
