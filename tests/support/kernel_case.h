// Samples of made-up classes as a kernel matrix, for what works on one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/gram_view.h"
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

// A x = b by Gauss with pivoting in double, for every column of b: nothing in common with the code
// under test.
using Table = std::vector<std::vector<double>>;
inline Table solve(Table a, Table b) {
  const std::size_t n = a.size();
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t pivot = i;
    for (std::size_t r = i; r < n; ++r) {
      if (std::abs(a[r][i]) > std::abs(a[pivot][i])) pivot = r;
    }
    std::swap(a[i], a[pivot]);
    std::swap(b[i], b[pivot]);
    for (std::size_t r = i + 1; r < n; ++r) {
      const double factor = a[r][i] / a[i][i];
      for (std::size_t c = i; c < n; ++c) a[r][c] -= factor * a[i][c];
      for (std::size_t c = 0; c < b[r].size(); ++c) b[r][c] -= factor * b[i][c];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t c = 0; c < b[i].size(); ++c) {
      for (std::size_t j = i + 1; j < n; ++j) b[i][c] -= a[i][j] * b[j][c];
      b[i][c] /= a[i][i];
    }
  }
  return b;
}

}  // namespace engram::test
