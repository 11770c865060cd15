#include "engine/readout_kinds.h"

#include <cmath>
#include <random>

#include "kernels/kernels.h"
#include "tests/support/catch.h"
#include "tests/support/gauss.h"
#include "tests/support/says.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

using Matrix = test::Table;
using test::solve;

// Samples of uneven classes, and G, C, counts of them in both forms.
struct Problem {
  static constexpr int kUnits = 24, kClasses = 3;
  std::vector<std::vector<double>> h;
  std::vector<int> y;
  std::vector<float> g = std::vector<float>(kUnits * kUnits), diagonal = std::vector<float>(kUnits),
                     sums = std::vector<float>(kClasses * kUnits);
  std::vector<std::int64_t> counts = std::vector<std::int64_t>(kClasses);

  explicit Problem(std::vector<int> sizes) {
    std::mt19937 random(7);
    for (int k = 0; k < kClasses; ++k) {
      for (int i = 0; i < sizes[std::size_t(k)]; ++i) {
        std::vector<double> row;
        for (int m = 0; m < kUnits; ++m) {
          row.push_back(float(2 + test::normal(random) + (m % kClasses == k ? 1.5 : 0)));
        }
        h.push_back(row);
        y.push_back(k);
      }
    }
    for (int r = 0; r < kUnits; ++r) {
      for (int c = 0; c <= r; ++c) {
        double sum = 0;
        for (const auto& row : h) sum += row[std::size_t(r)] * row[std::size_t(c)];
        (c == r ? diagonal[std::size_t(r)] : g[std::size_t(r * kUnits + c)]) = float(sum);
      }
    }
    for (std::size_t i = 0; i < h.size(); ++i) {
      ++counts[std::size_t(y[i])];
      for (int m = 0; m < kUnits; ++m) {
        sums[std::size_t(y[i] * kUnits + m)] += float(h[i][std::size_t(m)]);
      }
    }
  }
  ClassStatistics statistics() {
    return {kCpuKernels,
            {g.data(), diagonal.data(), kUnits, kUnits},
            {sums.data(), kClasses, kUnits, kUnits},
            counts};
  }
  Matrix means() const {
    Matrix mu(kClasses, std::vector<double>(kUnits));
    for (std::size_t i = 0; i < h.size(); ++i) {
      for (std::size_t m = 0; m < kUnits; ++m) {
        mu[std::size_t(y[i])][m] += h[i][m] / double(counts[std::size_t(y[i])]);
      }
    }
    return mu;
  }
  // sum over samples of weight[y] (h - a mu_y)(h - a mu_y)T
  Matrix scatter(const std::vector<double>& weight, double a) const {
    const Matrix mu = means();
    Matrix s(kUnits, std::vector<double>(kUnits));
    for (std::size_t i = 0; i < h.size(); ++i) {
      const auto k = std::size_t(y[i]);
      for (std::size_t r = 0; r < kUnits; ++r) {
        for (std::size_t c = 0; c < kUnits; ++c) {
          s[r][c] += weight[k] * (h[i][r] - a * mu[k][r]) * (h[i][c] - a * mu[k][c]);
        }
      }
    }
    return s;
  }
};

Matrix columns(const Matrix& rows) {
  Matrix turned(rows[0].size(), std::vector<double>(rows.size()));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < rows[0].size(); ++c) turned[c][r] = rows[r][c];
  }
  return turned;
}

}  // namespace

TEST_CASE("readout kinds: the discriminant is Mahalanobis distance", "[engine][readout]") {
  Problem problem({40, 25, 30});
  const std::vector<float> before = problem.g;
  const LinearReadout readout = discriminant_readout(problem.statistics(), 0.02).value();
  Matrix s = problem.scatter({1, 1, 1}, 1);
  double trace = 0;
  for (std::size_t m = 0; m < Problem::kUnits; ++m) trace += s[m][m];
  CHECK(test::close(readout.ridge, 0.02 * trace / Problem::kUnits, 1e-4));
  const double degrees = 95 - 3;
  for (std::size_t r = 0; r < Problem::kUnits; ++r) {
    for (double& value : s[r]) value /= degrees;
    s[r][r] += readout.ridge / degrees;
  }
  const Matrix mu = problem.means();
  for (std::size_t i = 0; i < 10; ++i) {
    const std::vector<double>& h = problem.h[i * 9];
    std::vector<double> ours, distance;
    for (std::size_t k = 0; k < Problem::kClasses; ++k) {
      double score = readout.bias[k];
      Matrix offset(Problem::kUnits, std::vector<double>(1));
      for (std::size_t m = 0; m < Problem::kUnits; ++m) {
        score += readout.weights[k * Problem::kUnits + m] * h[m];
        offset[m][0] = h[m] - mu[k][m];
      }
      const Matrix solved = solve(s, offset);
      double squared = 0;
      for (std::size_t m = 0; m < Problem::kUnits; ++m) squared += offset[m][0] * solved[m][0];
      ours.push_back(score);
      distance.push_back(squared);
    }
    // Scores are -distance^2 / 2 but for a term that all classes share.
    for (std::size_t k = 1; k < Problem::kClasses; ++k) {
      CHECK(test::close(ours[k] - ours[0], (distance[0] - distance[k]) / 2, 2e-3, 2e-3));
    }
  }
  for (int r = 0; r < Problem::kUnits; ++r) {  // G is as it was
    for (int c = 0; c < r; ++c) {
      CHECK(problem.g[std::size_t(r * Problem::kUnits + c)] ==
            before[std::size_t(r * Problem::kUnits + c)]);
    }
  }
}

TEST_CASE("readout kinds: balanced ridge weighs classes alike", "[engine][readout]") {
  // By its definition: G' = S + N/K sum mu muT, C' = N/K mu.
  Problem problem({60, 12, 3});
  const double ridge = 5, a = 75.0 / 3;
  Matrix g = problem.scatter({1, 1, 1}, 1);
  const Matrix mu = problem.means();
  for (std::size_t r = 0; r < Problem::kUnits; ++r) {
    for (std::size_t c = 0; c < Problem::kUnits; ++c) {
      for (const auto& mean : mu) g[r][c] += a * mean[r] * mean[c];
    }
    g[r][r] += ridge;
  }
  Matrix right = columns(mu);
  for (auto& row : right) {
    for (double& value : row) value *= a;
  }
  const Matrix wanted = solve(g, right);  // (M, K)
  const LinearReadout readout = balanced_readout(problem.statistics(), ridge).value();
  for (std::size_t k = 0; k < Problem::kClasses; ++k) {
    for (std::size_t m = 0; m < Problem::kUnits; ++m) {
      CHECK(test::close(readout.weights[k * Problem::kUnits + m], wanted[m][k], 1e-3, 1e-4));
    }
  }
}

TEST_CASE("readout kinds: with equal classes the balanced one is plain ridge",
          "[engine][readout]") {
  Problem problem({20, 20, 20});
  Matrix g = problem.scatter({1, 1, 1}, 0);
  for (std::size_t m = 0; m < Problem::kUnits; ++m) g[m][m] += 3;
  Matrix c = columns(problem.means());
  for (auto& row : c) {
    for (double& value : row) value *= 20;
  }
  const Matrix wanted = solve(g, c);
  const LinearReadout readout = balanced_readout(problem.statistics(), 3).value();
  for (std::size_t k = 0; k < Problem::kClasses; ++k) {
    for (std::size_t m = 0; m < Problem::kUnits; ++m) {
      CHECK(test::close(readout.weights[k * Problem::kUnits + m], wanted[m][k], 1e-3, 1e-4));
    }
  }
}

TEST_CASE("readout kinds: edges have a defined outcome", "[engine][readout]") {
  Problem none({0, 0, 0});
  CHECK(test::says(discriminant_readout(none.statistics(), 0.01).status(), "Nothing was learned"));
  CHECK(balanced_readout(none.statistics(), 1).status().code() == Code::invalid_argument);
  Problem single({1, 1, 0});  // one sample a class, one class without any
  for (const auto& readout : {discriminant_readout(single.statistics(), 0.01),
                              balanced_readout(single.statistics(), 0.01)}) {
    REQUIRE(readout.ok());
    CHECK(readout.value().bias[2] < -1e30f);
    for (const float weight : readout.value().weights) CHECK(std::isfinite(weight));
  }
  Problem tiny({5, 5, 5});  // N < M: no factor at a ridge far below rounding
  const LinearReadout raised = balanced_readout(tiny.statistics(), 1e-12).value();
  CHECK(raised.ridge > 1e-12);
  CHECK(raised.note.find("is used") != std::string::npos);
}

TEST_CASE("readout kinds: scaled scores and targets", "[engine][readout]") {
  Readout plain;
  plain.classes = {"a", "b"};
  plain.weights = {1, 2, 3, 4};
  plain.hidden_units = 2;
  const std::vector<std::int64_t> counts{16, 1};
  CHECK(scaled_readout(plain, counts).weights == SharedVector<float>{0.125f, 0.25f, 3, 4});
  CHECK(scaled_readout(plain, counts, 0).weights == plain.weights);
  // Orthogonal targets of different lengths: the answer is the cosine, so lengths of the prototypes
  // drop out on the side of the target and stay on the side of the prediction.
  const std::vector<float> targets{2, 0, 0, 0, 0, 5};
  CHECK(readout_on_targets(plain, {targets.data(), 2, 3, 3}).weights ==
        SharedVector<float>{2, 4, 15, 20});
}

}  // namespace engram
