// What is learned, in either form: G = sum of h hT, C = sum of h yT, and the classes with the sums F of
// their features (engine/feature_sums.h).
//
//   factored   the samples and their kernel matrix    engine/factored_statistics.h
//   dense      G and C, and the samples' rows         engine/dense_statistics.h
//
// A learner that may keep features begins in the factored form and moves to the dense one by itself,
// once and for good, when it would come to hold more than factored_limit() samples. Both mean the same
// numbers: in the `exact` arithmetic the move changes no bit of G, C, F or the digest.
//
// Rows. Where features may be kept, both forms have the encoded row of every sample, L bytes each, so
// that any of them can be told apart, taken back and judged. Only samples that came as sums, from a
// state that has no rows (kept none, or of a version that dropped them), are in the sums alone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/class_list.h"
#include "engine/config.h"
#include "engine/dense_statistics.h"
#include "engine/factored_statistics.h"
#include "engine/feature_sums.h"
#include "engine/form.h"
#include "kernels/chosen_kernels.h"
#include "platform/arena.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

class Statistics {
 public:
  // Nothing learned; the dense form of a config that keeps no features is taken from `arena`.
  Statistics(const LearnerConfig& config, const Kernels& kernels, Arena& arena);

  Form form() const { return dense_ ? Form::dense : Form::factored; }
  const LearnerConfig& config() const { return config_; }
  const Kernels& kernels() const { return *kernels_; }
  int hidden_units() const { return config_.hidden_units(); }
  const ClassList& classes() const { return classes_; }
  std::int64_t samples() const { return samples_; }
  // The number of the next sample, from 1 on; numbers are never given twice.
  std::int64_t next_id() const { return next_id_; }

  // Room for samples with these labels, then their new classes. After a failure nothing has changed.
  // Does not move: the caller sees to it that a factored form stays within factored_limit().
  Status prepare(std::span<const std::string> labels);
  // After prepare. rows: h.rows encoded samples; h (B, M) their hidden units.
  Status add(const std::byte* rows, MatrixView<const float> h,
             std::span<const std::int32_t> classes);
  // G and C from the samples kept, whose kernel matrix goes before G comes: never are both there.
  // `scratch` (B, M). After a failure all is as before, but for the kernel matrix when not even the
  // memory that it had is given again: complete() makes it then.
  Status move_to_dense(MatrixView<float> scratch);
  // ok: the kernel matrix of a factored form is there.
  Status complete();

  // Editing (statistics_edit.cpp). Classes may be left without samples: drop_empty_classes. Dense:
  // encoded rows and h as in add.
  Status take_back(const std::byte* rows, MatrixView<const float> h,
                   std::span<const std::int32_t> classes);
  Status move(const std::byte* rows, MatrixView<const float> h,
              std::span<const std::int32_t> classes, int to);
  void take_back(std::span<const int> kept);     // factored: indices, ascending
  void move(std::span<const int> kept, int to);  // factored
  // Dense: the rows of samples that were taken back or moved; indices of kept(), ascending.
  void drop_rows(std::span<const int> kept);
  void relabel_rows(std::span<const int> kept, int to);
  void unite(int from, int to);  // all of class `from`; it stays without samples
  void rename(int index, const std::string& label) { classes_.rename(index, label); }
  // Where each class is now, -1: gone.
  std::vector<std::int32_t> drop_empty_classes();
  // The sums, classes, counts and rows of another with the same units; both dense. Its samples get
  // the next numbers: first those without a row, then those with one, in their order.
  Status absorb(const Statistics& other);
  // A sum has come to 2^24, or floats round anyway: what was added cannot be taken back exactly.
  bool may_have_rounded() const;

  // The one of the current form.
  FactoredStatistics& factored() { return *factored_; }
  const FactoredStatistics& factored() const { return *factored_; }
  DenseStatistics& dense() { return *dense_; }
  const DenseStatistics& dense() const { return *dense_; }
  // Of either form: the samples whose rows are there. Null: none are kept.
  const KeptSamples* kept() const;
  // Samples up to this one may be in the sums alone; 0: all have a row.
  std::int64_t sums_only() const;
  FeatureSums& features() { return features_; }
  const FeatureSums& features() const { return features_; }

  // G[row,col] and C[class,unit], one by one: for tests and inspection.
  float gram(int row, int col) const;
  float class_sum(int class_index, int unit) const;
  // Of G and of the kernel matrix alike.
  double trace() const;
  double largest_eigenvalue() const;

  // Whole numbers: the total number of samples up to which no sum can have rounded. The largest
  // entry of G is on its diagonal and grows by at most hidden_max^2 a sample. 0: not whole numbers.
  std::int64_t exact_until() const { return exact_until_; }

  // Digests of this kind begin so; those of earlier versions, which did not cover F, otherwise.
  static constexpr const char* kDigestKind = "3-";
  // Equal for equal G, C, F and counts, whatever the form and the order of classes and samples
  // (statistics_digest.cpp). `config`: text that it covers too.
  std::string digest(const std::string& config) const;

  // Of a state that was saved: how many samples each class has (dense; the factored form counts
  // what it is given), when it was exact, and how numbers go on.
  void restore_counts(std::span<const std::int64_t> samples);
  void restore(std::int64_t exact_until, std::int64_t next_id);
  // Dense, of a config that keeps features: rows of ids.size() encoded samples, and sums_only().
  Status restore_rows(const std::byte* rows, std::span<const std::int32_t> classes,
                      std::span<const std::int64_t> ids, std::int64_t sums_only);

 private:
  Status make_dense(MatrixView<float> scratch);  // of the factored form, which stays
  std::int64_t largest_diagonal() const;         // of G, whole numbers
  // Recomputes exact_until; once a sum may have rounded, `stored` holds.
  void watch_rounding(std::int64_t stored);

  LearnerConfig config_;
  const Kernels* kernels_;
  ClassList classes_;
  FeatureSums features_;
  std::optional<FactoredStatistics> factored_;
  Arena dense_memory_ = Arena::empty();  // after a move
  std::optional<DenseStatistics> dense_;
  std::optional<KeptSamples> rows_;  // dense, where features may be kept
  std::int64_t sums_only_ = 0;
  std::int64_t samples_ = 0;
  std::int64_t next_id_ = 1;
  std::int64_t exact_until_ = 0;
};

}  // namespace engram
