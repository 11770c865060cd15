// What the readout said of samples just before they were learned: examples for a learner that keeps
// no samples.
//
// A sample of a class that the readout has is an example of a known thing, one of a new class of an
// unknown one. The last kRoom of each kind are kept, a few floats each: nothing of the sample.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/score_summary.h"

namespace engram {

class Prequential {
 public:
  static constexpr std::size_t kRoom = 512;  // of each kind: 32 kB in all

  void reserve();  // after it, add allocates nothing
  void add(const ScoreSummary& example);
  std::span<const ScoreSummary> known() const { return known_.examples; }
  std::span<const ScoreSummary> unknown() const { return unknown_.examples; }

  bool empty() const { return known().empty() && unknown().empty(); }

  // 28 bytes of each example, oldest first: known ones, then unknown ones.
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

}  // namespace engram
