#include "engine/feature_sums.h"

#include <algorithm>
#include <cmath>

#include "engine/score_blend.h"

namespace engram {
namespace {

template <class Value>
void add_values(const std::byte* row, int count, double sign, double* sum) {
  const auto* values = reinterpret_cast<const Value*>(row);
  for (int l = 0; l < count; ++l) sum[l] += sign * double(values[l]);
}

}  // namespace

FeatureSums::FeatureSums(const LearnerConfig& config)
    : whole_(config.arithmetic == Arithmetic::exact), width_(config.features) {}

Status FeatureSums::reserve_classes(int classes) {
  const auto rows = std::size_t(class_rows(classes));
  return sums_.reserve(sizeof(double) * rows * std::size_t(width_));
}

void FeatureSums::set_classes(int classes) {
  sums_.resize(sizeof(double) * std::size_t(classes) * std::size_t(width_));
  classes_ = classes;
}

void FeatureSums::add_row(const std::byte* row, double sign, double* sum) const {
  whole_ ? add_values<std::int8_t>(row, width_, sign, sum)
         : add_values<float>(row, width_, sign, sum);
}

void FeatureSums::add(const std::byte* rows, std::span<const std::int32_t> classes, double sign) {
  if (!complete_) return;
  const std::size_t bytes = std::size_t(width_) * (whole_ ? sizeof(std::int8_t) : sizeof(float));
  for (std::size_t i = 0; i < classes.size(); ++i) {
    add_row(rows + bytes * i, sign, sums().row(classes[i]));
  }
}

void FeatureSums::move(const std::byte* rows, std::span<const std::int32_t> classes, int to) {
  add(rows, classes, -1.0);
  add(rows, std::vector<std::int32_t>(classes.size(), to));
}

void FeatureSums::unite(int from, int to) {
  for (int l = 0; l < width_; ++l) {
    sums()(to, l) += sums()(from, l);
    sums()(from, l) = 0;
  }
}

void FeatureSums::renumber_classes(std::span<const std::int32_t> new_index, int classes) {
  ENGRAM_CHECK(new_index.size() == std::size_t(classes_));
  for (int k = 0; k < classes_; ++k) {
    const int to = new_index[std::size_t(k)];
    if (to >= 0 && to != k) std::copy_n(sums().row(k), width_, sums().row(to));
  }
  // Room for new classes holds zeros.
  for (int k = classes; k < classes_; ++k) std::fill_n(sums().row(k), width_, 0.0);
  set_classes(classes);
}

void FeatureSums::absorb(const FeatureSums& other, std::span<const std::int32_t> index) {
  if (!other.complete_) {
    std::fill_n(sums().data, std::size_t(classes_) * std::size_t(width_), 0.0);
    complete_ = false;
  }
  for (int k = 0; k < other.classes_ && complete_; ++k) {
    double* sum = sums().row(index[std::size_t(k)]);
    for (int l = 0; l < width_; ++l) sum[l] += other.sums()(k, l);
  }
}

void FeatureSums::clear() {
  std::fill_n(sums().data, std::size_t(classes_) * std::size_t(width_), 0.0);
  set_classes(0);
  complete_ = true;
}

constexpr double kShortest = 1e-30;  // below it weights would not fit a float

double FeatureSums::usual_length(std::span<const ClassInfo> classes) const {
  ENGRAM_CHECK(classes.size() == std::size_t(classes_));
  double squares = 0, samples = 0;
  for (int k = 0; k < classes_ && complete_; ++k) {
    const double count = double(classes[std::size_t(k)].samples);
    if (count == 0) continue;
    squares += squared_length(sums().row(k), width_) / count;
    samples += count;
  }
  const double length = samples > 0 ? std::sqrt(squares / samples) : 0.0;
  return std::isfinite(length) && length > kShortest ? length : 0.0;
}

}  // namespace engram
