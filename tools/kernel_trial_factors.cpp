// Trials of factors and solves.
#include <memory>
#include <random>

#include <fmt/format.h>

#include "tools/kernel_trial_cases.h"

namespace engram {
namespace {

constexpr float kLambda = 1000.0f;
constexpr double kFloatFactor = 2e-5;  // two factorisations in float, of a well-conditioned matrix

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

  int m, k;
  BufferVector<float> gram, factor, sides;  // the first two with their diagonal after them
};

}  // namespace

std::vector<TrialCase> factor_cases(int units, int classes) {
  const auto p = std::make_shared<const Problem>(units, classes);
  const int m = units, k = classes;
  const OperationShape whole{.units = m, .classes = k};
  const OperationShape sides{.frames = k, .units = m, .classes = k};
  const OperationShape appended{.frames = m - m / 3, .units = m, .classes = k};
  const std::string square = fmt::format("M {}", m), solve = fmt::format("M {} K {}", m, k);
  return {
      trial_case("cholesky", &Kernels::cholesky, square, whole, kFloatFactor,
                 [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                   result = p->gram;
                   return clock(
                       [&] { return kernels.cholesky(Stream{}, kLambda, {}, p->view(result)); });
                 }),
      trial_case(
          "cholesky_solve", &Kernels::cholesky_solve, solve, whole, kFloatFactor,
          [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
            TrialFloats factor = p->factor;
            result = p->sides;
            return clock([&] {
              return kernels.cholesky_solve(Stream{}, p->view(factor), {result.data(), k, m, m});
            });
          }),
      trial_case("inverse_diagonal", &Kernels::inverse_diagonal, square, whole, kFloatFactor,
                 [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                   TrialFloats factor = p->factor, scratch(std::size_t(m) * 64);
                   result.resize(std::size_t(m));
                   return clock([&] {
                     return kernels.inverse_diagonal(Stream{}, p->view(factor),
                                                     {scratch.data(), m, 64, 64},
                                                     {result.data(), 1, m, m});
                   });
                 }),
      trial_case("factor_append", &Kernels::factor_append, square, appended, kFloatFactor,
                 [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                   result = p->factor;
                   return clock([&] {
                     return kernels.factor_append(Stream{}, kLambda, m / 3, p->view(result));
                   });
                 }),
      trial_case("triangular_solve", &Kernels::triangular_solve, solve, sides, kFloatFactor,
                 [=](const Kernels& kernels, const TrialClock& clock, TrialFloats& result) {
                   TrialFloats factor = p->factor;
                   result = p->sides;
                   return clock([&] {
                     return kernels.triangular_solve(Stream{}, p->view(factor), true,
                                                     {result.data(), k, m, m});
                   });
                 })};
}

}  // namespace engram
