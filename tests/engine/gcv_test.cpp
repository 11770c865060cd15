// GCV by quadratures against GCV by definition in double, over a fine grid.
#include "engine/gcv.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "engine/lanczos.h"
#include "kernels/kernels.h"
#include "tests/support/catch.h"
#include "tests/support/dense_case.h"
#include "tests/support/kernel_case.h"
#include "tests/support/says.h"

namespace engram {
namespace {

using test::close;
using test::DenseCase;
using test::KernelCase;
using test::make_samples;
using test::Table;

// (RSS / N) / (1 - 1.05 df / N)^2 / K from G, C and N in double.
double defined(DenseCase& dense, double lambda) {
  const int units = dense.units, classes = dense.classes;
  Table a(static_cast<std::size_t>(units)), b(a.size());
  for (int r = 0; r < units; ++r) {
    for (int c = 0; c < units; ++c) a[std::size_t(r)].push_back(dense.gram().gram(r, c));
    for (int k = 0; k < classes; ++k) {
      b[std::size_t(r)].push_back(dense.sums[std::size_t(k) * std::size_t(units) + std::size_t(r)]);
    }
    for (int c = 0; c < units; ++c) b[std::size_t(r)].push_back(r == c ? 1.0 : 0.0);
  }
  const Table g = a;
  for (int r = 0; r < units; ++r) a[std::size_t(r)][std::size_t(r)] += lambda;
  const Table x = test::solve(a, b);
  double explained = 0, freedom = 0;
  for (int k = 0; k < classes; ++k) {
    for (int r = 0; r < units; ++r) {
      double gx = 2 * lambda * x[std::size_t(r)][std::size_t(k)];
      for (int c = 0; c < units; ++c) {
        gx += g[std::size_t(r)][std::size_t(c)] * x[std::size_t(c)][std::size_t(k)];
      }
      explained += gx * x[std::size_t(r)][std::size_t(k)];
    }
  }
  for (int r = 0; r < units; ++r) {
    freedom += 1.0 - lambda * x[std::size_t(r)][std::size_t(classes + r)];
  }
  const double left = 1.0 - kFreedomWeight * freedom / dense.samples;
  return left > 0 ? (dense.samples - explained) / dense.samples / (left * left) / classes
                  : INFINITY;
}

LambdaChoice choose(DenseCase& x) {
  Result<LambdaChoice> choice = choose_by_gcv(x.problem());
  REQUIRE(choice.ok());
  CHECK(choice->lambda > 0);
  CHECK(std::isfinite(choice->lambda));
  return std::move(choice).value();
}

}  // namespace

TEST_CASE("gcv: the choice is as good as the best of a fine grid", "[engine][gcv]") {
  const int units = GENERATE(24, 90);  // N below and above M
  const int per_class = GENERATE(3, 12, 40);
  const int classes = GENERATE(1, 6);
  const double noise = GENERATE(0.6, 1.5);
  CAPTURE(units, per_class, classes, noise);
  DenseCase x(KernelCase(make_samples(classes, per_class, 12, 3, 1, noise), units), classes);
  const LambdaChoice choice = choose(x);
  CHECK(choice.note.empty());
  double best = INFINITY;
  for (double part = 1.2e-3; part < 100; part *= 1.5) {
    best = std::min(best, defined(x, part * x.trace() / x.samples));
  }
  CHECK(defined(x, choice.lambda) < best * 1.001);
  // And where it is not the best itself, the curve around it is right.
  for (std::size_t i = 0; i < choice.candidates.size(); i += 7) {
    if (std::isnan(choice.losses[i])) continue;
    CHECK(close(choice.losses[i], defined(x, choice.candidates[i]), 0.02));
  }
}

TEST_CASE("gcv: more classes than start vectors", "[engine][gcv]") {
  DenseCase x(KernelCase(make_samples(150, 3, 14, 3, 1, 0.8), 60), 150);
  const LambdaChoice choice = choose(x);
  double best = INFINITY;
  for (double part = 0.01; part < 100; part *= 1.5) {
    best = std::min(best, defined(x, part * x.trace() / x.samples));
  }
  CHECK(defined(x, choice.lambda) < best * 1.01);
}

TEST_CASE("gcv: `factored` tells whether the factor is there", "[engine][gcv]") {
  DenseCase x(KernelCase(make_samples(4, 20, 12, 3, 1, 1.0), 50), 4);
  const LambdaChoice choice = choose(x);
  DenseCase fresh(KernelCase(make_samples(4, 20, 12, 3, 1, 1.0), 50), 4);
  REQUIRE(kCpuKernels.cholesky(Stream{}, float(choice.lambda), {}, fresh.gram()).ok());
  bool same = true;
  for (int r = 0; r < 50; ++r) {
    for (int c = r; c < 50; ++c) same &= x.gram().row(r)[c] == fresh.gram().row(r)[c];
  }
  CHECK(same == choice.factored);
}

TEST_CASE("gcv: order of samples and classes does not matter, scale is a scale", "[engine][gcv]") {
  const int units = GENERATE(40, 530), classes = GENERATE(5, 140);
  CAPTURE(units, classes);
  KernelCase x(make_samples(classes, classes == 5 ? 20 : 2, 12, 4, 1, 1.0), units);
  DenseCase dense(x, classes);
  const double chosen = choose(dense).lambda;
  std::vector<int> order(static_cast<std::size_t>(x.size));
  std::iota(order.rbegin(), order.rend(), 0);
  KernelCase other = x.reordered(order);
  for (std::int32_t& label : other.classes) label = (label + 2) % classes;
  DenseCase turned(other, classes);
  CHECK(choose(turned).lambda == chosen);
  for (const double scale : {1e-8, 1e8}) {
    KernelCase scaled = x;
    for (float& value : scaled.h) value = float(value * scale);
    DenseCase large(scaled, classes);
    CHECK(close(choose(large).lambda, chosen * scale * scale, 0.13));
  }
}

TEST_CASE("gcv: where there is nothing to choose, a defined lambda and a note", "[engine][gcv]") {
  KernelCase none(make_samples(1, 0, 12), 10), one(make_samples(1, 1, 12), 10);
  DenseCase nothing(none, 0), single(one, 1);
  CHECK(test::says(choose(nothing).note, "Nothing was learned"));
  CHECK(choose(single).lambda > 0);
  KernelCase zeros(make_samples(3, 4, 12), 10), huge = zeros, tiny = zeros;
  for (float& value : zeros.h) value = 0;
  for (float& value : huge.h) value *= 1e30f;
  for (float& value : tiny.h) value *= 1e-30f;
  DenseCase no(zeros, 3), large(huge, 3), small(tiny, 3);
  CHECK(test::says(choose(no).note, "zero"));
  CHECK(test::says(choose(large).note, "too large"));
  CHECK(test::says(choose(small).note, "zero"));

  KernelCase twins(make_samples(4, 6, 12, 1, 1, 1.0), 40);
  for (int i = 0; i < twins.size; ++i) std::copy_n(twins.row(i / 3 * 3), 40, twins.row(i));
  DenseCase repeated(twins, 4);
  const LambdaChoice choice = choose(repeated);
  CHECK(choice.note.empty());
  for (std::size_t i = 0; i < choice.candidates.size(); ++i) {
    const double wanted = defined(repeated, choice.candidates[i]);
    if (!std::isnan(choice.losses[i])) CHECK(close(choice.losses[i], wanted, 0.05));
  }
}

TEST_CASE("lanczos: quadratures give quadratic forms", "[engine][gcv]") {
  constexpr int kUnits = 30;
  DenseCase x(KernelCase(make_samples(3, 20, 12, 3, 1, 1.0), kUnits), 3);
  const double shift = 0.1 * x.trace() / x.samples, lambda = 3 * shift;
  REQUIRE(kCpuKernels.cholesky(Stream{}, float(shift), {}, x.gram()).ok());
  std::vector<float> starts(3 * kUnits), scratch(6 * kUnits);
  for (int m = 0; m < kUnits; ++m) starts[std::size_t(m)] = float(m % 5) - 1;
  starts[kUnits + 7] = 2.0f;  // the third start is zeros
  const std::vector<float> before = starts;
  ShiftedLanczos lanczos(kCpuKernels, x.gram(), shift, {starts.data(), 3, kUnits, kUnits},
                         {scratch.data(), 6, kUnits, kUnits});
  // Vectors may go on without the others, and later than they.
  REQUIRE(lanczos.advance(0, 3, 4).ok());
  REQUIRE(lanczos.advance(1, 2, 6).ok());
  REQUIRE(lanczos.advance(0, 1, 6).ok());
  std::vector<Quadrature> rules;
  for (int v = 0; v < 3; ++v) {
    CHECK(lanczos.steps(v) == 10);
    Result<Quadrature> rule = lanczos.quadrature(v);
    REQUIRE(rule.ok());
    rules.push_back(std::move(rule).value());
  }
  for (std::size_t v = 0; v < 2; ++v) {
    Table a(kUnits), b(kUnits);
    for (int r = 0; r < kUnits; ++r) {
      for (int c = 0; c < kUnits; ++c) {
        a[std::size_t(r)].push_back(x.gram().gram(r, c) + (r == c ? lambda : 0.0));
      }
      b[std::size_t(r)].push_back(before[v * kUnits + std::size_t(r)]);
    }
    const Table solved = test::solve(a, b);
    double wanted = 0, length = 0, found = 0, total = 0;
    for (std::size_t r = 0; r < kUnits; ++r) {
      wanted += solved[r][0] * before[v * kUnits + r];
      length += before[v * kUnits + r] * before[v * kUnits + r];
    }
    const Quadrature& rule = rules[v];
    for (std::size_t i = 0; i < rule.values.size(); ++i) {
      found += rule.weights[i] / (rule.values[i] + lambda);
      total += rule.weights[i];
    }
    CHECK(close(found, wanted, 1e-4));
    CHECK(close(total, length, 1e-5));
  }
  CHECK(rules[2].values.empty());
}

}  // namespace engram
