// A few samples of the open task, for a learner in the dense form: what a readout without each of
// them says follows from the factor of the solve that ends the task.
//
//     p = hT (G + lambda I)^-1 h = |U^-T h|^2        with h in G
//     ridge without it    (s - p y) / (1 - p)        s its scores, y its one-hot label
//     means without it    F[y] - f                   and so the blend (engine/score_blend.h)
//     leverage            p / (1 - p)
//
// So classes that nobody shows again give examples of known things, too. At most kMost, drawn evenly
// from what was learned since the last solve (reservoir sampling, the same on every machine); they
// go when they have been heard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/config.h"
#include "engine/kept_samples.h"
#include "engine/projection.h"
#include "engine/readout.h"
#include "engine/score_blend.h"
#include "engine/score_summary.h"
#include "engine/statistics.h"

namespace engram {

class Witnesses {
 public:
  static constexpr int kMost = 64;

  explicit Witnesses(const LearnerConfig& config) : samples_(config, /*with_hidden=*/false) {}

  Status reserve() { return samples_.reserve(std::size_t(kMost)); }  // then add allocates nothing
  void add(const std::byte* rows, std::span<const std::int32_t> classes);
  void clear();
  int size() const { return samples_.size(); }

  // The readout was just solved, is ridge alone and will be of that blend; the factor at its lambda is
  // in `statistics`, which is dense. h is overwritten. Classes of one sample have no example: without it they are not known.
  Result<std::vector<ScoreSummary>> hear(const Statistics& statistics, const Readout& readout,
                                         const ScoreBlend& blend, const Projection& projection,
                                         const ProjectionScratch& scratch) const;

 private:
  KeptSamples samples_;
  std::int64_t seen_ = 0;
};

}  // namespace engram
