// What readouts said of samples they had not learned: examples for a learner that keeps no samples.
//
// Said just before a sample is learned: one of a class that the readout has is an example of a known
// thing, one of a new class of an unknown one. Samples left out of a readout afterwards are examples
// of known things, too (engine/witnesses.h). The last kRoom of each kind are kept, a few numbers each:
// nothing of the sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/score_summary.h"

namespace engram {

class Prequential {
 public:
  static constexpr std::size_t kRoom = 512;  // of each kind: 50 kB in all

  void reserve();                         // after it, add allocates nothing
  void add(const ScoreSummary& example);  // none, if it is not finite: load() would refuse it
  std::span<const ScoreSummary> known() const { return known_.examples; }
  std::span<const ScoreSummary> unknown() const { return unknown_.examples; }

  bool empty() const { return known().empty() && unknown().empty(); }

  // 40 bytes of each example, oldest first: known ones, then unknown ones.
  std::vector<std::byte> save() const;
  // False: not what save() writes; nothing was changed.
  bool load(std::span<const std::byte> bytes);

  bool operator==(const Prequential&) const;

 private:
  struct Ring {
    std::vector<ScoreSummary> examples;
    std::size_t oldest = 0;  // where the next one goes once the ring is full
    void add(const ScoreSummary& example);
    const ScoreSummary& by_age(std::size_t i) const;
  };
  Ring known_, unknown_;
};

// Those of readouts that had learned at least half of `samples`: what a beginner said of things it
// knew tells little of a readout that has seen a hundred times as much. All, if these are fewer than
// `fewest`.
std::vector<ScoreSummary> newer(std::span<const ScoreSummary> examples, std::int64_t samples,
                                std::size_t fewest);

}  // namespace engram
