// feature_score: against the definition in double.
#include "kernels/feature_score.h"

#include <cmath>
#include <random>

#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"
#include "tests/support/worst.h"

namespace engram {

using test::Backend;
using test::GuardedMatrix;
using test::reads;
using test::updates;

TEST_CASE("feature_score: adds the definition within float rounding", "[kernels][feature_score]") {
  const int frames = GENERATE(0, 1, 2, 4, 5, 16, 17);
  const int classes = GENERATE(0, 1, 3, 4, 5, 9);
  const int features = GENERATE(0, 1, 31, 32, 33, 500);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  GuardedMatrix<std::int8_t> q(frames, features);
  GuardedMatrix<float> weights(classes, features);
  q.fill([&] { return static_cast<std::int8_t>(int(random() % 255) - 127); });
  weights.fill([&] { return normal(random); });
  for (const Backend& backend : test::backends(&Kernels::feature_score)) {
    CAPTURE(frames, classes, features, backend.name);
    GuardedMatrix<float> s(frames, classes);
    s.fill([] { return 100.0f; });
    REQUIRE(test::run(backend, &Kernels::feature_score, reads(q), reads(weights), updates(s)).ok());
    test::Worst worst;
    for (int b = 0; b < frames; ++b) {
      for (int k = 0; k < classes; ++k) {
        double sum = 100.0, size = 100.0;
        for (int l = 0; l < features; ++l) {
          sum += double(q(b, l)) * weights(k, l);
          size += std::fabs(double(q(b, l)) * weights(k, l));
        }
        worst.see(std::fabs(s(b, k) - sum) / size);
      }
    }
    REQUIRE(worst.value() < 1e-6);
    REQUIRE(s.untouched());
  }
}

TEST_CASE("feature_score: more than are made floats at once", "[kernels][feature_score]") {
  if (simt::hooks().allocated) return;  // the CPU's tile
  const int frames = 33, features = 2049;
  GuardedMatrix<std::int8_t> q(frames, features);
  GuardedMatrix<float> weights(2, features), s(frames, 2);
  q.fill([] { return std::int8_t{-3}; });
  weights.fill([] { return 2.0f; });
  s.fill([] { return 1.0f; });
  REQUIRE(cpu::feature_score(Stream{}, q.read(), weights.read(), s.view()).ok());
  for (int b = 0; b < frames; ++b) REQUIRE(s(b, 1) == 1.0f - 6.0f * float(features));
}

}  // namespace engram
