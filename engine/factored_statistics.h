// The factored form of what was learned: the samples themselves, and their kernel matrix.
//
//     G = HT H,   C = YT H        never made; K = H HT (N, N) is, see kernel_matrix.h
//     (G + lambda I)^-1 HT = HT (K + lambda I)^-1
//
// Memory and time are those of what was learned: N M + 4 N^2 bytes beside the rows themselves,
// against 4 M^2 in the dense form. While N is below M / 2 it is the smaller and the faster one; and
// because the samples are there, they can be taken back, one by one and exactly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/config.h"
#include "engine/dense_statistics.h"
#include "engine/kept_samples.h"
#include "engine/kernel_matrix.h"
#include "engine/left_out_means.h"
#include "kernels/chosen_kernels.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

class FactoredStatistics {
 public:
  FactoredStatistics(const LearnerConfig& config, const Kernels& kernels);

  // Room for `samples` in all; after a failure everything is as before.
  Status reserve(int samples);
  // Into reserved room. rows: h.rows encoded samples; h (B, M) their hidden units.
  Status add(const std::byte* rows, MatrixView<const float> h,
             std::span<const std::int32_t> classes, std::int64_t first_id);

  // `indices` ascending. The others move up.
  void remove(std::span<const int> indices);
  void relabel(int index, std::int32_t to) { kept_.relabel(index, to); }
  // Class c becomes new_index[c].
  void renumber_classes(std::span<const std::int32_t> new_index);

  const KeptSamples& kept() const { return kept_; }
  KernelMatrix& kernel() { return kernel_; }
  const KernelMatrix& kernel() const { return kernel_; }
  int hidden_units() const { return int(diagonal_.size()); }
  FeatureRows feature_rows() const;  // of the samples kept, which they refer to

  // The kernel matrix gives its memory back; make_kernel takes it again, if it is not there.
  void drop_kernel() { kernel_ = KernelMatrix(); }
  Status make_kernel();

  // readout (K, M) += weights (K, N) H.
  Status combine(MatrixView<const float> weights, MatrixView<float> readout) const;
  // Adds all samples to `dense`, a few rows of floats at a time in `scratch` (B, M).
  Status add_to(DenseStatistics& dense, MatrixView<float> scratch) const;

  // Of G and C, one by one: for tests and inspection.
  double gram(int row, int col) const;
  double class_sum(int class_index, int unit) const;
  double largest_diagonal() const;  // of G

 private:
  void add_to_diagonal(const float* h);

  LearnerConfig config_;
  const Kernels* kernels_;
  KeptSamples kept_;
  KernelMatrix kernel_;
  std::vector<double> diagonal_;  // of G
};

}  // namespace engram
