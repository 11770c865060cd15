// class_sums: whole numbers, so compared with ==; learning and unlearning cancel.
#include "kernels/class_sums.h"

#include <random>

#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"
#include "tests/support/says.h"

namespace engram {
namespace {

using test::Backend;
using test::GuardedMatrix;
using test::reads;
using test::updates;

struct Case {
  Case(int frames, int classes, int units)
      : h(frames, units), labels(1, frames), c(classes, units) {
    std::mt19937 random(1);
    h.fill([&] { return random() % 256; });
    labels.fill([&] { return random() % static_cast<unsigned>(classes); });
    c.fill([&] { return random() % 10000; });
  }
  void run(const Backend& backend, float sign) {
    REQUIRE(
        test::run(backend, &Kernels::class_sums, reads(h), reads(labels), sign, updates(c)).ok());
  }
  GuardedMatrix<float> h;
  GuardedMatrix<std::int32_t> labels;
  GuardedMatrix<float> c;
};

}  // namespace

TEST_CASE("class_sums: equals the definition", "[kernels][class_sums]") {
  const int frames = GENERATE(0, 1, 7, 48);
  const int classes = GENERATE(1, 2, 10);
  const int units = GENERATE(0, 1, 33, 127, 128, 129, 2047, 2048, 5000);
  const float sign = GENERATE(1.0f, -1.0f);
  for (const Backend& backend : test::backends(&Kernels::class_sums)) {
    CAPTURE(frames, classes, units, sign, backend.name);
    Case c(frames, classes, units);
    GuardedMatrix<float> expected = c.c;
    for (int b = 0; b < frames; ++b)
      for (int m = 0; m < units; ++m) expected(c.labels(0, b), m) += sign * c.h(b, m);
    c.run(backend, sign);
    REQUIRE(c.c == expected);
    REQUIRE(c.c.untouched());
  }
}

TEST_CASE("class_sums: unlearning undoes learning to the bit", "[kernels][class_sums]") {
  for (const Backend& backend : test::backends(&Kernels::class_sums)) {
    Case c(48, 10, 700);
    const GuardedMatrix<float> before = c.c;
    c.run(backend, 1.0f);
    REQUIRE_FALSE(c.c == before);
    c.run(backend, -1.0f);
    REQUIRE(c.c == before);
  }
}

TEST_CASE("class_sums: on a device a wrong label stops the kernel", "[kernels][class_sums]") {
  const std::int32_t wrong = GENERATE(-1, 10);
  for (const Backend& backend : test::simt_backends()) {
    Case c(3, 10, 40);
    c.labels(0, 1) = wrong;
    const Status status =
        test::run(backend, &Kernels::class_sums, reads(c.h), reads(c.labels), 1.0f, updates(c.c));
    REQUIRE(test::says(status, "__trap at class_sums.cu"));
  }
}

}  // namespace engram
