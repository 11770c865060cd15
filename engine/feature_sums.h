// Sums of the samples' own features by class, beside those of their hidden units.
//
//     F[k] = sum of f over the samples of class k
//
//   name   shape    type     meaning
//   f      (L)      float    a sample as it is encoded: its quantised bytes, or its floats
//   F      (K, L)   double   one row per class: a new class is a new row
//
// A random projection loses something of what features tell, and most where samples are few: class
// means are compared in the features themselves (engine/score_blend.h). Both forms of statistics have
// these sums, K L of them beside K M or more.
//
// Numerics. In double whole numbers are exact up to 2^53, which no learner reaches: added in any
// order, taken back and moved between classes, to the bit. Floats round, as all float sums do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/class_list.h"
#include "engine/config.h"
#include "platform/growing_buffer.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

class FeatureSums {
 public:
  explicit FeatureSums(const LearnerConfig& config);

  // Room for `classes` rows in all; after ok() set_classes up to it cannot fail.
  Status reserve_classes(int classes);
  void set_classes(int classes);

  // F[classes[i]] += sign f_i. rows: classes.size() encoded samples.
  void add(const std::byte* rows, std::span<const std::int32_t> classes, double sign = 1.0);
  // F[classes[i]] -= f_i, F[to] += f_i.
  void move(const std::byte* rows, std::span<const std::int32_t> classes, int to);
  void unite(int from, int to);  // row `from` is added to row `to` and becomes zeros
  // Row k becomes row new_index[k], of `classes` in all; -1 disappears. The order stays.
  void renumber_classes(std::span<const std::int32_t> new_index, int classes);
  // Those of another; its row k is of our class index[k].
  void absorb(const FeatureSums& other, std::span<const std::int32_t> index);
  void clear();  // no class; complete

  // False: a state of an earlier version, whose samples are gone, had none. They stay zeros then.
  bool complete() const { return complete_; }
  void set_incomplete() { complete_ = false; }
  MatrixView<double> sums() const { return {sums_.as<double>(), classes_, width_, width_}; }
  // r, r^2 = mean over all samples of |mean of its class|^2; 0: there is no direction to compare with.
  double usual_length(std::span<const ClassInfo> classes) const;

 private:
  void add_row(const std::byte* row, double sign, double* sum) const;

  bool whole_;  // rows are bytes
  int width_;   // L
  GrowingBuffer sums_;
  int classes_ = 0;
  bool complete_ = true;
};

}  // namespace engram
