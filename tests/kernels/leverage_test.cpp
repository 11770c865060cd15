// leverage: against the definition in double.
#include "kernels/leverage.h"

#include <cmath>
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

struct Case {
  Case(int frames, int probes, int units)
      : h(frames, units), values(probes, units), scales(1, probes) {
    std::mt19937 random(1);
    h.fill([&] { return static_cast<float>(random() % 32); });
    values.fill([&] { return static_cast<std::int16_t>(int(random() % 65535) - 32767); });
    scales.fill([&] { return 1e-6f * static_cast<float>(1 + random() % 100); });
  }
  double product(int b, int r, double& size) const {
    double sum = size = 0.0;
    for (int m = 0; m < h.read().cols; ++m) {
      sum += double{h(b, m)} * values(r, m);
      size += std::fabs(double{h(b, m)} * values(r, m));
    }
    size *= scales(0, r);
    return sum * scales(0, r);
  }

  GuardedMatrix<float> h;
  GuardedMatrix<std::int16_t> values;
  GuardedMatrix<float> scales;
};

}  // namespace

TEST_CASE("leverage: equals the definition within float rounding", "[kernels][leverage]") {
  const int frames = GENERATE(0, 1, 2, 4, 5, 16, 17);
  const int probes = GENERATE(0, 1, 3, 64);
  const int units = GENERATE(0, 1, 127, 128, 129, 515);
  const Case c(frames, probes, units);
  for (const Backend& backend : test::backends(&Kernels::leverage)) {
    CAPTURE(frames, probes, units, backend.name);
    GuardedMatrix<float> products(frames, probes), leverages(1, frames);
    REQUIRE(test::run(backend, &Kernels::leverage, reads(c.h), reads(c.values), reads(c.scales),
                      writes(products), writes(leverages))
                .ok());
    bool close = true;  // what is not a number is not
    for (int b = 0; b < frames; ++b) {
      double wanted = 0.0, allowed = 0.0;
      for (int r = 0; r < probes; ++r) {
        double size = 0.0;
        const double product = c.product(b, r, size);
        close = close && std::fabs(products(b, r) - product) <= 1e-6 * size;
        wanted += product * product / probes;
        allowed += size * size / probes;
      }
      close = close && std::fabs(leverages(0, b) - wanted) <= 1e-6 * allowed;
    }
    REQUIRE(close);
    REQUIRE(products.untouched());
    REQUIRE(leverages.untouched());
  }
}

TEST_CASE("leverage: more units than are made floats at once", "[kernels][leverage]") {
  if (simt::hooks().allocated) return;  // the CPU's tile
  const int units = 16384 + 3;
  GuardedMatrix<float> h(2, units), scales(1, 5), products(2, 5), leverages(1, 2);
  GuardedMatrix<std::int16_t> values(5, units);
  h.fill([] { return 1.0f; });
  values.fill([] { return std::int16_t{2}; });
  scales.fill([] { return 0.5f; });
  REQUIRE(cpu::leverage(Stream{}, h.read(), values.read(), scales.read(), products.view(),
                        leverages.view())
              .ok());
  CHECK(products(1, 4) == float(units));
  CHECK(leverages(0, 1) == float(units) * float(units));
}

TEST_CASE("leverage: what is not a number reaches its frame only", "[kernels][leverage]") {
  const int frames = GENERATE(2, 6);
  for (const Backend& backend : test::backends(&Kernels::leverage)) {
    Case c(frames, 9, 40);
    c.h(1, 39) = std::numeric_limits<float>::quiet_NaN();
    GuardedMatrix<float> products(frames, 9), leverages(1, frames);
    REQUIRE(test::run(backend, &Kernels::leverage, reads(c.h), reads(c.values), reads(c.scales),
                      writes(products), writes(leverages))
                .ok());
    for (int b = 0; b < frames; ++b) REQUIRE(std::isnan(leverages(0, b)) == (b == 1));
  }
}

}  // namespace engram
