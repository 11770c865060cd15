// A held key teaches many frames in a row, and most of them show what the one before showed: they
// count as several samples and teach as one. A burst takes a frame only if it is new.
//
// How alike two frames are: the cosine that their hidden units would have, by that of their features.
// With angle t between features, hidden units of a random projection and ReLU have in the mean
//     (sin t + (pi - t) cos t) / pi            (0.94 where the features have 0.936)
// so that no projection is needed, and the threshold is the one by which `engram classes` would call
// the two nearly the same picture (kDuplicate, engine/teaching.h): a burst never earns that remark.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

namespace engram {

// Of hidden units, from the features; 0 where one of them is zero. Sizes must agree.
double likeness(std::span<const float> features, std::span<const float> others);

class Burst {
 public:
  static constexpr std::size_t kRemembered = 8;  // samples: a hand that shakes comes back to them

  bool is_near_duplicate(const std::string& label, std::span<const float> features) const;
  // Call for every learned sample; `goes_on`: of a held key. A tap, or another label, begins anew.
  void learned(const std::string& label, std::span<const float> features, bool goes_on);
  void end() { last_.clear(); }

 private:
  std::string label_;
  std::deque<std::vector<float>> last_;
};

}  // namespace engram
