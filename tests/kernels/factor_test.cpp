// The turned copy of G that precedes a factor on a device: to the bit the CPU's, nothing else written.
#include "kernels/factor_device.h"

#include <cmath>

#include "kernels/factor_cpu.h"
#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"

namespace engram {

using test::GramCase;

TEST_CASE("factor: a device turns the rows of G as the CPU does", "[kernels][factor]") {
  const int units = GENERATE(1, 2, 31, 32, 33, 63, 64, 65, 100);  // tiles of 32
  for (const int first : {0, 1, 31, 32, 40, 64, units - 1, units}) {
    if (first > units) continue;
    GramCase before(units);
    float value = 0.0f;
    before.buffer.fill([&] { return value += 1.0f; });
    before.diagonal.fill([&] { return value += 1.0f; });
    GramCase wanted = before;
    cpu::copy_gram_rows(0.5f, first, wanted.view());
    for (const test::Backend& backend : test::simt_backends()) {
      CAPTURE(units, first, backend.name);
      GramCase g = before;
      {
        const simt::Options old = std::exchange(simt::options(), backend.simt);
        const test::PlacedGram placed({true, backend.aligned_rows}, g);
        REQUIRE(simt::copy_gram_rows(Stream{}, 0.5f, first, placed.get()).ok());
        simt::options() = old;
      }
      REQUIRE(g.buffer == wanted.buffer);
      REQUIRE(g.diagonal == before.diagonal);
      REQUIRE(g.untouched());
    }
  }
}

}  // namespace engram
