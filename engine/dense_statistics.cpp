#include "engine/dense_statistics.h"

#include <algorithm>
#include <bit>

namespace engram {

std::size_t DenseStatistics::arena_bytes(int hidden_units) {
  const auto m = std::size_t(hidden_units);
  return Arena::bytes_for(m * m, sizeof(float)) + Arena::bytes_for(m, sizeof(float));
}

DenseStatistics::DenseStatistics(int hidden_units, const Kernels& kernels, Arena& arena)
    : kernels_(&kernels) {
  const auto m = std::size_t(hidden_units);
  gram_ = {arena.take<float>(m * m), arena.take<float>(m), hidden_units, hidden_units};
}

Status DenseStatistics::reserve_classes(int classes) {
  constexpr int kFirstClassRows = 8;
  const auto rows = std::size_t(std::bit_ceil(unsigned(std::max(classes, kFirstClassRows))));
  return sums_.reserve(sizeof(float) * rows * std::size_t(gram_.size));
}

void DenseStatistics::set_classes(int classes) {
  sums_.resize(sizeof(float) * std::size_t(classes) * std::size_t(gram_.size));
  classes_ = classes;
}

Status DenseStatistics::add(MatrixView<const float> h, std::span<const std::int32_t> classes) {
  ENGRAM_CHECK(h.cols == gram_.size && std::size_t(h.rows) == classes.size());
  ENGRAM_TRY(kernels_->gram_update(Stream{}, h, 1.0f, gram_));
  return kernels_->class_sums(Stream{}, h, {classes.data(), 1, h.rows, h.rows}, 1.0f, sums());
}

std::vector<float> DenseStatistics::sum_of_all() const {
  std::vector<float> all(std::size_t(gram_.size));
  const MatrixView<const float> c = sums();
  for (int k = 0; k < c.rows; ++k) {
    for (int m = 0; m < c.cols; ++m) all[std::size_t(m)] += c(k, m);
  }
  return all;
}

}  // namespace engram
