// Samples of made-up classes as a kernel matrix, for what works on one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/gram_view.h"
#include "tests/support/gauss.h"
#include "tests/support/synthetic.h"

namespace engram::test {

struct KernelCase {
  // h (N, units) whole numbers 0..31: features of made-up classes through random signs.
  KernelCase(const Samples& samples, int hidden_units, unsigned seed = 1)
      : size(samples.count()),
        units(hidden_units),
        h(std::size_t(size) * std::size_t(units)),
        classes(samples.classes.begin(), samples.classes.end()) {
    std::mt19937 random(seed);
    std::vector<double> signs(std::size_t(samples.width) * std::size_t(units));
    for (double& sign : signs) sign = random() % 2 ? 1.0 : -1.0;
    for (int i = 0; i < size; ++i) {
      for (int m = 0; m < units; ++m) {
        double sum = 0;
        for (int l = 0; l < samples.width; ++l) {
          sum += samples.features()(i, l) * signs[std::size_t(l) * std::size_t(units) + m];
        }
        h[std::size_t(i) * std::size_t(units) + m] = float(int(std::clamp(2.0 * sum, 0.0, 31.0)));
      }
    }
    fill_kernel();
  }

  // Again after h was changed.
  void fill_kernel() {
    data.assign(std::size_t(size) * std::size_t(size), 0.0f);
    diagonal.assign(std::size_t(size), 0.0f);
    for (int r = 0; r < size; ++r) {
      for (int c = 0; c <= r; ++c) {
        double sum = 0;
        for (int m = 0; m < units; ++m) sum += double(row(r)[m]) * row(c)[m];
        (c == r ? diagonal[std::size_t(r)] : view().row(r)[c]) = float(sum);
      }
    }
  }

  KernelCase reordered(const std::vector<int>& order) const {
    KernelCase other = *this;
    for (int i = 0; i < size; ++i) {
      std::copy_n(row(order[std::size_t(i)]), units, other.row(i));
      other.classes[std::size_t(i)] = classes[std::size_t(order[std::size_t(i)])];
    }
    other.fill_kernel();
    return other;
  }

  float* row(int i) { return h.data() + std::size_t(i) * std::size_t(units); }
  const float* row(int i) const { return h.data() + std::size_t(i) * std::size_t(units); }
  MatrixView<const float> hidden() const { return {h.data(), size, units, units}; }
  GramView view() { return {data.data(), diagonal.data(), size, size}; }

  int size, units;
  std::vector<float> h;
  std::vector<std::int32_t> classes;
  std::vector<float> data, diagonal;
};

}  // namespace engram::test
