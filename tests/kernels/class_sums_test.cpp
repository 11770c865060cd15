// class_sums: whole numbers, so compared with ==; learning and unlearning cancel.
#include "kernels/class_sums.h"

#include <random>

#include "tests/support/catch.h"
#include "tests/support/guarded_matrix.h"
#include "tests/support/kernel_paths.h"

namespace engram {
namespace {

using test::GuardedMatrix;

struct Case {
  Case(int frames, int classes, int units)
      : h(frames, units), labels(1, frames), c(classes, units) {
    std::mt19937 random(1);
    h.fill([&] { return random() % 256; });
    labels.fill([&] { return random() % static_cast<unsigned>(classes); });
    c.fill([&] { return random() % 10000; });
  }
  void run(float sign) {
    REQUIRE(cpu::class_sums(Stream{}, h.read(), labels.read(), sign, c.view()).ok());
  }
  GuardedMatrix<float> h;
  GuardedMatrix<std::int32_t> labels;
  GuardedMatrix<float> c;
};

}  // namespace

TEST_CASE("class_sums: equals the definition", "[kernels][class_sums]") {
  const int frames = GENERATE(0, 1, 7, 48);
  const int classes = GENERATE(1, 2, 10);
  const int units = GENERATE(0, 1, 33, 2047, 2048, 5000);
  const float sign = GENERATE(1.0f, -1.0f);
  for (const test::Path path : test::kernel_paths()) {
    CAPTURE(frames, classes, units, sign, cpu::name(path.simd), path.threads);
    const test::OnPath on(path);
    Case c(frames, classes, units);
    GuardedMatrix<float> expected = c.c;
    for (int b = 0; b < frames; ++b)
      for (int m = 0; m < units; ++m) expected(c.labels(0, b), m) += sign * c.h(b, m);
    c.run(sign);
    REQUIRE(c.c == expected);
    REQUIRE(c.c.untouched());
  }
}

TEST_CASE("class_sums: unlearning undoes learning to the bit", "[kernels][class_sums]") {
  Case c(48, 10, 700);
  const GuardedMatrix<float> before = c.c;
  c.run(1.0f);
  REQUIRE_FALSE(c.c == before);
  c.run(-1.0f);
  REQUIRE(c.c == before);
}

}  // namespace engram
