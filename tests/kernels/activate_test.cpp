// activate: the definition in 64 bits, over its whole range.
#include "kernels/activate.h"

#include <algorithm>
#include <limits>
#include <random>

#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"

namespace engram {
namespace {

using test::Backend;
using test::GuardedMatrix;
using test::reads;
using test::writes;

// The definition in the header, read literally.
float defined(std::int32_t p, std::int32_t mul, std::int32_t hmax) {
  const std::int64_t product = std::int64_t{std::max(p, 0)} * mul;
  return static_cast<float>(std::min<std::int64_t>(hmax, product >> 16));
}

void require_defined(const GuardedMatrix<std::int32_t>& p, std::int32_t mul, std::int32_t hmax) {
  for (const Backend& backend : test::backends(&Kernels::activate)) {
    CAPTURE(backend.name);
    GuardedMatrix<float> h(p.rows(), p.cols());
    REQUIRE(test::run(backend, &Kernels::activate, reads(p), mul, hmax, writes(h)).ok());
    int wrong = 0;
    for (int b = 0; b < p.rows(); ++b)
      for (int m = 0; m < p.cols(); ++m) wrong += h(b, m) != defined(p(b, m), mul, hmax);
    REQUIRE(wrong == 0);
    REQUIRE(h.untouched());
  }
}

}  // namespace

TEST_CASE("activate: equals the definition", "[kernels][activate]") {
  const std::int32_t mul = GENERATE(1, 2, 3, 255, 1234, 40000, 65535, 65536);
  const std::int32_t hmax = GENERATE(1, 15, 31, 63, 254, 255);
  const int cols = GENERATE(0, 1, 7, 16, 33, 255, 256, 257);
  CAPTURE(mul, hmax, cols);
  std::mt19937 random(1);
  std::uniform_int_distribution<std::int32_t> projection(-400000, 400000);
  GuardedMatrix<std::int32_t> p(3, cols);
  p.fill([&] { return projection(random); });
  require_defined(p, mul, hmax);
}

TEST_CASE("activate: work shared between threads", "[kernels][activate]") {
  std::mt19937 random(2);
  GuardedMatrix<std::int32_t> p(50, 5000);
  p.fill([&] { return static_cast<std::int32_t>(random() % 100000) - 50000; });
  require_defined(p, 500, 31);
}

TEST_CASE("activate: exact where a step of h begins", "[kernels][activate]") {
  const std::int32_t mul = GENERATE(1, 7, 300, 4321, 65535, 65536);
  const std::int32_t hmax = GENERATE(1, 31, 255);
  CAPTURE(mul, hmax);
  GuardedMatrix<std::int32_t> p(hmax + 2, 3);
  for (int step = 0; step < hmax + 2; ++step) {
    const std::int32_t begin = (step * 65536 + mul - 1) / mul;
    for (int i = 0; i < 3; ++i) p(step, i) = begin - 1 + i;
  }
  require_defined(p, mul, hmax);
}

TEST_CASE("activate: the extremes of 32 bits", "[kernels][activate]") {
  const std::int32_t mul = GENERATE(1, 65536);
  const std::int32_t hmax = GENERATE(1, 255);
  GuardedMatrix<std::int32_t> p(1, 5);
  p(0, 0) = std::numeric_limits<std::int32_t>::max();
  p(0, 1) = std::numeric_limits<std::int32_t>::min();
  p(0, 2) = 0;
  p(0, 3) = -1;
  p(0, 4) = 1 << 24;
  require_defined(p, mul, hmax);
}

}  // namespace engram
