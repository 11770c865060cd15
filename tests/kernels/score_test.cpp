// score: against the definition in double.
#include "kernels/score.h"

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

}  // namespace

TEST_CASE("score: equals the definition within float rounding", "[kernels][score]") {
  const int frames = GENERATE(0, 1, 2, 4, 5, 16, 17);
  const int classes = GENERATE(0, 1, 3, 4, 5, 8, 9, 100);
  const int units = GENERATE(0, 1, 7, 8, 31, 32, 33, 500, 5001);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  GuardedMatrix<float> h(frames, units), readout(classes, units);
  h.fill([&] { return static_cast<float>(random() % 32); });
  readout.fill([&] { return normal(random); });

  for (const Backend& backend : test::backends(&Kernels::score)) {
    CAPTURE(frames, classes, units, backend.name);
    GuardedMatrix<float> s(frames, classes);
    REQUIRE(test::run(backend, &Kernels::score, reads(h), reads(readout), writes(s)).ok());
    test::Worst worst;
    for (int b = 0; b < frames; ++b) {
      for (int k = 0; k < classes; ++k) {
        double sum = 0.0, size = 0.0;
        for (int m = 0; m < units; ++m) {
          sum += double{h(b, m)} * readout(k, m);
          size += std::fabs(double{h(b, m)} * readout(k, m));
        }
        worst.see(std::fabs(s(b, k) - sum) / (size + 1e-30));
      }
    }
    REQUIRE(worst.value() < 1e-6);
    REQUIRE(s.untouched());
  }
}

TEST_CASE("score: of many frames, whole numbers to the bit", "[kernels][score]") {
  const int frames = GENERATE(64, 65, 130), units = GENERATE(1, 40);
  std::mt19937 random(2);
  GuardedMatrix<float> h(frames, units), readout(5, units);
  h.fill([&] { return static_cast<float>(random() % 32); });
  readout.fill([&] { return static_cast<float>(int(random() % 100) - 50); });
  for (const Backend& backend : test::backends(&Kernels::score)) {
    CAPTURE(frames, units, backend.name);
    GuardedMatrix<float> s(frames, 5);
    REQUIRE(test::run(backend, &Kernels::score, reads(h), reads(readout), writes(s)).ok());
    for (int b = 0; b < frames; ++b) {
      for (int k = 0; k < 5; ++k) {
        float sum = 0;
        for (int m = 0; m < units; ++m) sum += h(b, m) * readout(k, m);
        REQUIRE(s(b, k) == sum);
      }
    }
    REQUIRE(s.untouched());
  }
}

TEST_CASE("score: a NaN in the readout reaches its class only", "[kernels][score]") {
  const int frames = GENERATE(1, 3);
  for (const Backend& backend : test::backends(&Kernels::score)) {
    GuardedMatrix<float> h(frames, 40), readout(3, 40), s(frames, 3);
    h.fill([] { return 1.0f; });
    readout.fill([] { return 0.5f; });
    readout(1, 39) = std::numeric_limits<float>::quiet_NaN();
    REQUIRE(test::run(backend, &Kernels::score, reads(h), reads(readout), writes(s)).ok());
    REQUIRE(s(frames - 1, 0) == 20.0f);
    REQUIRE(std::isnan(s(frames - 1, 1)));
    REQUIRE(s(frames - 1, 2) == 20.0f);
  }
}

}  // namespace engram
