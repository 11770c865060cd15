// Small problems given by their kernel, and ridge regression by brute force in double: readouts
// that are really trained without some samples.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "kernels/gram_view.h"
#include "tests/support/gauss.h"

namespace engram::test {

struct RidgeCase {
  int units = 0;
  std::vector<std::vector<double>> h;  // (N, M), whole numbers
  std::vector<std::int32_t> classes;
  int class_count = 0;
  std::vector<float> kernel, diagonal;  // as GramView wants them

  int count() const { return int(h.size()); }
  GramView view() { return {kernel.data(), diagonal.data(), count(), count()}; }
  void add(std::vector<double> row, int label) {
    units = int(row.size());
    h.push_back(std::move(row));
    classes.push_back(label);
    class_count = std::max(class_count, label + 1);
  }
  // Call when all rows are there.
  void make_kernel() {
    const std::size_t n = h.size();
    kernel.assign(n * n, std::nanf(""));  // the upper triangle is another's
    diagonal.assign(n, 0);
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t c = 0; c <= r; ++c) {
        double sum = 0;
        for (std::size_t m = 0; m < h[r].size(); ++m) sum += h[r][m] * h[c][m];
        (r == c ? diagonal[r] : kernel[r * n + c]) = float(sum);
      }
    }
  }
};

// `per_class` samples of each class around its own centre, spread by `noise`.
inline RidgeCase make_ridge_case(int class_count, int per_class, int units, double noise,
                                 unsigned seed) {
  std::mt19937 random(seed);
  const auto uniform = [&] { return double(random()) / 4294967296.0; };
  const std::vector<double> zeros(static_cast<std::size_t>(units));
  std::vector<std::vector<double>> centres(static_cast<std::size_t>(class_count), zeros);
  for (auto& centre : centres) {
    for (double& value : centre) value = 20.0 * uniform();
  }
  RidgeCase result;
  for (int i = 0; i < per_class; ++i) {
    for (int k = 0; k < class_count; ++k) {
      std::vector<double> row = centres[std::size_t(k)];
      for (double& value : row) {
        const double moved = value + noise * (uniform() + uniform() + uniform() - 1.5);
        value = std::floor(std::min(31.0, std::max(0.0, moved)));
      }
      result.add(std::move(row), k);
    }
  }
  result.make_kernel();
  return result;
}

// Trained on the rows with learned[i], M x M, the textbook way.
struct BruteForce {
  BruteForce(const RidgeCase& problem, const std::vector<bool>& learned, double lambda) {
    const auto m = std::size_t(problem.units);
    gram.assign(m, std::vector<double>(m));
    std::vector<std::vector<double>> sums(m, std::vector<double>(std::size_t(problem.class_count)));
    for (std::size_t i = 0; i < problem.h.size(); ++i) {
      if (!learned[i]) continue;
      for (std::size_t r = 0; r < m; ++r) {
        for (std::size_t c = 0; c < m; ++c) gram[r][c] += problem.h[i][r] * problem.h[i][c];
        sums[r][std::size_t(problem.classes[i])] += problem.h[i][r];
      }
    }
    for (std::size_t r = 0; r < m; ++r) gram[r][r] += lambda;
    weights = solve(gram, sums);
  }
  std::vector<float> scores(std::span<const double> h) const {
    std::vector<float> result;
    for (std::size_t k = 0; k < weights[0].size(); ++k) {
      double sum = 0;
      for (std::size_t m = 0; m < h.size(); ++m) sum += h[m] * weights[m][k];
      result.push_back(float(sum));
    }
    return result;
  }
  double leverage(std::span<const double> h) const {
    std::vector<std::vector<double>> column;
    for (const double value : h) column.push_back({value});
    const auto x = solve(gram, column);
    double sum = 0;
    for (std::size_t m = 0; m < h.size(); ++m) sum += h[m] * x[m][0];
    return sum;
  }

  std::vector<std::vector<double>> gram;     // G + lambda I
  std::vector<std::vector<double>> weights;  // (M, K)
};

}  // namespace engram::test
