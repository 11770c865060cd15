#include "engine/factored_statistics.h"

#include <algorithm>

#include "engine/projection.h"
#include "kernels/kernels.h"

namespace engram {
namespace {
constexpr int kBlock = KeptSamples::kBlockRows;
}

FactoredStatistics::FactoredStatistics(const LearnerConfig& config, const Kernels& kernels)
    : config_(config),
      kernels_(&kernels),
      kept_(config, /*with_hidden=*/true),
      diagonal_(std::size_t(config.hidden_units())) {}

Status FactoredStatistics::reserve(int samples) {
  ENGRAM_TRY(kernel_.reserve(samples));
  return kept_.reserve(std::size_t(samples));
}

Status FactoredStatistics::add(const std::byte* rows, MatrixView<const float> h,
                               std::span<const std::int32_t> classes, std::int64_t first_id) {
  kept_.append(rows, h, classes, first_id);
  for (int b = 0; b < h.rows; ++b) add_to_diagonal(h.row(b));
  return kernel_.append(*kernels_, kept_);
}

Status FactoredStatistics::make_kernel() {
  if (kernel_.size() == kept_.size()) return {};
  ENGRAM_TRY(kernel_.reserve(kept_.size()));
  return kernel_.append(*kernels_, kept_);
}

void FactoredStatistics::add_to_diagonal(const float* h) {
  for (std::size_t m = 0; m < diagonal_.size(); ++m) diagonal_[m] += double(h[m]) * h[m];
}

void FactoredStatistics::remove(std::span<const int> indices) {
  kept_.remove(indices);
  kernel_.remove(indices);
  std::fill(diagonal_.begin(), diagonal_.end(), 0.0);
  std::vector<float> h(diagonal_.size());
  for (int n = 0; n < kept_.size(); ++n) {
    kept_.widen(n, {h.data(), 1, int(h.size()), int(h.size())});
    add_to_diagonal(h.data());
  }
}

void FactoredStatistics::renumber_classes(std::span<const std::int32_t> new_index) {
  kept_.renumber_classes(new_index);
}

Status FactoredStatistics::combine(MatrixView<const float> weights,
                                   MatrixView<float> readout) const {
  ENGRAM_CHECK(weights.cols == kept_.size());
  // From the last block to the first: who compared all samples with one before has those in the cache.
  for (int block = kept_.blocks() - 1; block >= 0; --block) {
    const KeptView kept = kept_.block_hidden(block);
    const MatrixView<const float> part{weights.data + block * kBlock, weights.rows, kept.rows,
                                       weights.stride};
    ENGRAM_TRY(kernels_->combine_rows(Stream{}, part, kept, readout));
  }
  return {};
}

FeatureRows FactoredStatistics::feature_rows() const {
  return {config_.features,
          [this](int sample, float* f) { widen_row(config_, kept_.row(sample), f); }};
}

Status FactoredStatistics::add_to(DenseStatistics& dense, MatrixView<float> scratch) const {
  for (int first = 0; first < kept_.size(); first += scratch.rows) {
    const int count = std::min(scratch.rows, kept_.size() - first);
    const MatrixView<float> h = scratch.row_range(0, count);
    kept_.widen(first, h);
    ENGRAM_TRY(dense.add(h, kept_.classes().subspan(std::size_t(first), std::size_t(count))));
  }
  return {};
}

double FactoredStatistics::gram(int row, int col) const {
  double sum = 0;
  for (int n = 0; n < kept_.size(); ++n) {
    const KeptView kept = kept_.block_hidden(n / kBlock);
    sum += kept.at(n % kBlock, row) * kept.at(n % kBlock, col);
  }
  return sum;
}

double FactoredStatistics::class_sum(int class_index, int unit) const {
  double sum = 0;
  for (int n = 0; n < kept_.size(); ++n) {
    if (kept_.classes()[std::size_t(n)] != class_index) continue;
    sum += kept_.block_hidden(n / kBlock).at(n % kBlock, unit);
  }
  return sum;
}

double FactoredStatistics::largest_diagonal() const {
  return *std::max_element(diagonal_.begin(), diagonal_.end());
}

}  // namespace engram
