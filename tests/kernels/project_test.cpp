// project: against the definition in double.
#include "kernels/project.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"
#include "tests/support/worst.h"

namespace engram {
namespace {

using test::Backend;
using test::GuardedMatrix;
using test::reads;
using test::writes;

double phi_of(double sum, Nonlinearity phi) {
  if (phi == Nonlinearity::relu) return std::max(sum, 0.0);
  return phi == Nonlinearity::square ? sum * sum : sum;
}

}  // namespace

TEST_CASE("project: equals the definition within float rounding", "[kernels][project]") {
  const int frames = GENERATE(0, 1, 2, 8, 16, 33);
  const int inputs = GENERATE(0, 1, 31, 128, 130);
  const int units = GENERATE(0, 1, 17, 128, 129, 256, 300);
  const Nonlinearity phi = GENERATE(Nonlinearity::relu, Nonlinearity::square, Nonlinearity::none);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  GuardedMatrix<float> f(frames, inputs), w(inputs, units);
  f.fill([&] { return normal(random); });
  w.fill([&] { return normal(random); });

  for (const Backend& backend : test::backends(&Kernels::project)) {
    CAPTURE(frames, inputs, units, int(phi), backend.name);
    GuardedMatrix<float> h(frames, units);
    REQUIRE(test::run(backend, &Kernels::project, reads(f), reads(w), phi, writes(h)).ok());
    test::Worst worst;
    for (int b = 0; b < frames; ++b) {
      for (int m = 0; m < units; ++m) {
        double sum = 0.0, size = 0.0;
        for (int l = 0; l < inputs; ++l) {
          const double product = double{f(b, l)} * w(l, m);
          sum += product;
          size += std::fabs(product);
        }
        const double scale = phi == Nonlinearity::square ? size * size : size;
        worst.see(std::fabs(h(b, m) - phi_of(sum, phi)) / (scale + 1e-30));
      }
    }
    REQUIRE(worst.value() < 1e-6);
    REQUIRE(h.untouched());
  }
}

TEST_CASE("project: a NaN feature is not hidden by relu", "[kernels][project]") {
  const int frames = GENERATE(1, 2);
  GuardedMatrix<float> f(frames, 5), w(5, 9), h(frames, 9);
  f.fill([] { return std::numeric_limits<float>::quiet_NaN(); });
  w.fill([] { return 1.0f; });
  for (const Backend& backend : test::backends(&Kernels::project)) {
    CAPTURE(backend.name);
    REQUIRE(test::run(backend, &Kernels::project, reads(f), reads(w), Nonlinearity::relu, writes(h))
                .ok());
    for (int m = 0; m < 9; ++m) REQUIRE(std::isnan(h(frames - 1, m)));
  }
}

}  // namespace engram
