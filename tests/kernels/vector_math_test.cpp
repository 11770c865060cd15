// exp and the normal distribution of the CPU's kernels: against the standard library in double. The same
// functions in wider registers are met by the tests of gelu and attention.
#include "kernels/vector_math_cpu.h"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/worst.h"

namespace engram {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("vector math: exp within 1e-6 of its value", "[kernels][vector_math]") {
  test::Worst worst;
  for (int i = -87300; i <= 88000; ++i) {
    const float x = 1e-3f * float(i);
    worst.see(std::fabs(cpu::exp_of(x) / std::exp(double{x}) - 1));
  }
  CHECK(worst.value() < 2e-7);
  CHECK(cpu::exp_of(0.0f) == 1.0f);
  CHECK(cpu::exp_of(-88.0f) == 0.0f);
  CHECK(cpu::exp_of(-kInfinity) == 0.0f);
  CHECK(std::isnan(cpu::exp_of(kNan)));
}

TEST_CASE("vector math: exp of a sum that no float holds", "[kernels][vector_math]") {
  const double wanted = std::exp(-40.0 + 1e-7);
  CHECK(std::fabs(cpu::exp_of(-40.0f, 1e-7f) / wanted - 1) < 2e-7);
}

TEST_CASE("vector math: the normal distribution within 1e-6, tails included",
          "[kernels][vector_math]") {
  test::Worst worst_below, worst_density;
  for (int i = -13000; i <= 13000; ++i) {
    const float x = 1e-3f * float(i);
    const cpu::Normal normal = cpu::normal_of(x);
    const double below = std::erfc(-double{x} / std::sqrt(2.0)) / 2;
    const double density = std::exp(-double{x} * x / 2) / std::sqrt(2 * 3.14159265358979323846);
    worst_below.see(std::fabs(normal.below / below - 1));
    worst_density.see(std::fabs(normal.density / density - 1));
  }
  CHECK(worst_below.value() < 1e-6);
  CHECK(worst_density.value() < 1e-6);
  CHECK(cpu::normal_of(-kInfinity).below == 0.0f);
  CHECK(cpu::normal_of(kInfinity).below == 1.0f);
  CHECK(std::isnan(cpu::normal_of(kNan).below));
}

TEST_CASE("vector math: sigmoid within 1e-6", "[kernels][vector_math]") {
  test::Worst worst;
  for (int i = -87000; i <= 87000; ++i) {
    const float x = 1e-3f * float(i);
    const double value = 1 / (1 + std::exp(-double{x})), slope = value / (1 + std::exp(double{x}));
    worst.see(std::fabs(cpu::sigmoid_of(x).value / value - 1));
    worst.see(std::fabs(cpu::sigmoid_of(x).slope / slope - 1));
  }
  CHECK(worst.value() < 5e-7);
  CHECK(cpu::sigmoid_of(-kInfinity).value == 0.0f);
  CHECK(cpu::sigmoid_of(kInfinity).value == 1.0f);
}

TEST_CASE("vector math: rows of every length", "[kernels][vector_math]") {
  for (int count = 0; count <= 3 * cpu::kLanes + 1; ++count) {
    std::vector<float> row(std::size_t(count) + 1, 7.0f);
    cpu::map_row(count, row.data(), [](int i) { return float(i + 1); });
    CHECK(cpu::sum_of(count, [&](int i) { return row[std::size_t(i)]; }) ==
          float(count * (count + 1) / 2));
    CHECK(row.back() == 7.0f);
  }
}

}  // namespace engram
