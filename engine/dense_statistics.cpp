#include "engine/dense_statistics.h"

#include <algorithm>

#include "engine/class_list.h"
#include "kernels/kernels.h"

namespace engram {
namespace {

void add_row(float* to, const float* from, int count) {
  for (int m = 0; m < count; ++m) to[m] += from[m];
}

}  // namespace

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
  const auto rows = std::size_t(class_rows(classes));
  return sums_.reserve(sizeof(float) * rows * std::size_t(gram_.size));
}

void DenseStatistics::set_classes(int classes) {
  sums_.resize(sizeof(float) * std::size_t(classes) * std::size_t(gram_.size));
  classes_ = classes;
}

Status DenseStatistics::add(MatrixView<const float> h, std::span<const std::int32_t> classes,
                            float sign) {
  ENGRAM_CHECK(h.cols == gram_.size && std::size_t(h.rows) == classes.size());
  ENGRAM_TRY(kernels_->gram_update(Stream{}, h, sign, gram_));
  return kernels_->class_sums(Stream{}, h, {classes.data(), 1, h.rows, h.rows}, sign, sums());
}

Status DenseStatistics::move(MatrixView<const float> h, std::span<const std::int32_t> classes,
                             int to) {
  ENGRAM_CHECK(h.cols == gram_.size && std::size_t(h.rows) == classes.size());
  ENGRAM_TRY(kernels_->class_sums(Stream{}, h, {classes.data(), 1, h.rows, h.rows}, -1.0f, sums()));
  for (int b = 0; b < h.rows; ++b) add_row(sums().row(to), h.row(b), h.cols);
  return {};
}

void DenseStatistics::renumber_classes(std::span<const std::int32_t> new_index, int classes) {
  ENGRAM_CHECK(new_index.size() == std::size_t(classes_));
  for (int k = 0; k < classes_; ++k) {
    const int to = new_index[std::size_t(k)];
    if (to >= 0 && to != k) std::copy_n(sums().row(k), gram_.size, sums().row(to));
  }
  // Room for new classes holds zeros.
  for (int k = classes; k < classes_; ++k) std::fill_n(sums().row(k), gram_.size, 0.0f);
  set_classes(classes);
}

void DenseStatistics::absorb(const DenseStatistics& other, std::span<const std::int32_t> index) {
  for (int r = 0; r < gram_.size; ++r) add_row(gram_.row(r), other.gram_.row(r), r);
  add_row(gram_.diagonal, other.gram_.diagonal, gram_.size);
  for (int k = 0; k < other.classes_; ++k) {
    add_row(sums().row(index[std::size_t(k)]), other.sums().row(k), gram_.size);
  }
}

void DenseStatistics::clear() {
  for (int r = 0; r < gram_.size; ++r) std::fill_n(gram_.row(r), r, 0.0f);
  std::fill_n(gram_.diagonal, gram_.size, 0.0f);
  for (int k = 0; k < classes_; ++k) std::fill_n(sums().row(k), gram_.size, 0.0f);
  set_classes(0);
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
