// Trials of factors and solves.
#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "tools/doctor/kernel_trial_cases.h"

namespace engram {
namespace {

constexpr float kLambda = 1000.0f;
constexpr double kFloatSolve = 2e-5;  // two solves in float

// Two factorisations in float, relative to U. LAPACK's is 4e-7, 2e-6, 4e-5 from another order of sums
// with M 33, 130, 2000: the last pivots are what is left of sums that grow with M.
double float_factor(int units) {
  return std::max(1e-5, 1e-7 * units);
}

// G of as many samples as half its hidden units, its factor by the CPU, and right-hand sides.
struct Problem {
  Problem(int units, int classes) : m(units), k(classes) {
    std::mt19937 random(1);
    const int samples = units / 2 + 1;
    BufferVector<float> h(std::size_t(samples) * std::size_t(m));
    for (float& value : h) value = float(random() % 32);
    gram.assign(size() + std::size_t(m), 0.0f);
    ENGRAM_CHECK(cpu::gram_update(Stream{}, {h.data(), samples, m, m}, 1.0f, view(gram)).ok());
    factor = gram;
    ENGRAM_CHECK(cpu::cholesky(Stream{}, kLambda, {}, view(factor)).ok());
    sides.resize(std::size_t(k) * std::size_t(m));
    for (float& value : sides) value = float(random() % 1000);
  }
  std::size_t size() const { return std::size_t(m) * std::size_t(m); }
  GramView view(BufferVector<float>& buffer) const {
    return {buffer.data(), buffer.data() + size(), m, m};
  }
  // Of U from `first` on: what is to be computed must not be there already.
  void forget_columns(int first, BufferVector<float>& buffer) const {
    for (int r = 0; r < m; ++r) {
      float* const row = view(buffer).row(r);
      std::fill(row + std::max(r, first), row + m, 0.0f);
    }
  }

  int m, k;
  BufferVector<float> gram, factor, sides;  // the first two with their diagonal after them
};

template <class Operation, class Run>
TrialCase factorisation(const char* name, Operation* Kernels::*operation,
                        const OperationShape& size, Run run) {
  const int m = size.units;
  TrialCase one =
      trial_case(name, operation, fmt::format("M {}", m), size, float_factor(m), std::move(run));
  one.difference = [m](const TrialFloats& wanted, const TrialFloats& got) {
    return factor_difference(m, wanted, got);
  };
  return one;
}

}  // namespace

std::vector<TrialCase> factor_cases(int units, int classes) {
  const auto p = std::make_shared<const Problem>(units, classes);
  const int m = units, k = classes;
  const OperationShape whole{.units = m, .classes = k};
  const OperationShape sides{.frames = k, .units = m, .classes = k};
  const OperationShape appended{.frames = m - m / 3, .units = m, .classes = k};
  const std::string square = fmt::format("M {}", m), solve = fmt::format("M {} K {}", m, k);
  return {
      factorisation("cholesky", &Kernels::cholesky, whole,
                    [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                      result = p->gram;
                      return clock(
                          [&] { return kernels.cholesky(Stream{}, kLambda, {}, p->view(result)); });
                    }),
      trial_case(
          "cholesky_solve", &Kernels::cholesky_solve, solve, whole, kFloatSolve,
          [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
            TrialFloats factor = p->factor;
            result = p->sides;
            return clock([&] {
              return kernels.cholesky_solve(Stream{}, p->view(factor), {result.data(), k, m, m});
            });
          }),
      trial_case("inverse_diagonal", &Kernels::inverse_diagonal, square, whole, kFloatSolve,
                 [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                   TrialFloats factor = p->factor, scratch(std::size_t(m) * 64);
                   result.resize(std::size_t(m));
                   return clock([&] {
                     return kernels.inverse_diagonal(Stream{}, p->view(factor),
                                                     {scratch.data(), m, 64, 64},
                                                     {result.data(), 1, m, m});
                   });
                 }),
      factorisation("factor_append", &Kernels::factor_append, appended,
                    [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                      result = p->factor;
                      p->forget_columns(m / 3, result);
                      return clock([&] {
                        return kernels.factor_append(Stream{}, kLambda, m / 3, p->view(result));
                      });
                    }),
      trial_case("triangular_solve", &Kernels::triangular_solve, solve, sides, kFloatSolve,
                 [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                   TrialFloats factor = p->factor;
                   result = p->sides;
                   return clock([&] {
                     return kernels.triangular_solve(Stream{}, p->view(factor), true,
                                                     {result.data(), k, m, m});
                   });
                 })};
}

// Any positive definite matrix does, and this one is made as fast as it is written.
TrialCase large_factor_case(int units) {
  const int m = units;
  const auto run = [m](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
    std::mt19937 random(1);
    const auto size = std::size_t(m) * std::size_t(m);
    result.assign(size + std::size_t(m), 0.0f);
    const GramView g{result.data(), result.data() + size, m, m};
    for (int r = 0; r < m; ++r) {
      for (int c = 0; c < r; ++c) g.row(r)[c] = float(random() % 32);
      g.diagonal[r] = 32.0f * float(m);
    }
    return clock([&] { return kernels.cholesky(Stream{}, kLambda, {}, g); });
  };
  return factorisation("cholesky", &Kernels::cholesky, {.units = m}, run);
}

}  // namespace engram
