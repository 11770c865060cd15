// kernel_rows: whole numbers, so compared with ==; floats against double.
#include "kernels/kernel_rows.h"

#include <cmath>
#include <random>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"

namespace engram {
namespace {

using test::Backend;
using test::GuardedMatrix;
using test::writes;

double defined(KeptView left, KeptView right, int b, int n) {
  double sum = 0;
  for (int m = 0; m < left.cols; ++m) sum += left.at(b, m) * right.at(n, m);
  return sum;
}

}  // namespace

// Below, at and above every edge. On the CPU a tile is 2 by 4 rows of 16 units; on a GPU 8 or 32 by
// 64 rows, a stage 64 units.
TEST_CASE("kernel_rows: bytes equal the definition", "[kernels][kernel_rows]") {
  const int rows = GENERATE(0, 1, 2, 3, 8, 9, 17, 33);
  const int samples = GENERATE(0, 1, 4, 5, 33, 64, 65);
  const int units = GENERATE(1, 15, 16, 17, 63, 64, 65, 128, 300);
  const unsigned largest = GENERATE(31, 255);
  std::mt19937 random(1);
  std::vector<std::uint8_t> a(std::size_t(rows * units)), b(std::size_t(samples * units));
  for (std::uint8_t& value : a) value = std::uint8_t(random() % (largest + 1));
  for (std::uint8_t& value : b) value = std::uint8_t(random() % (largest + 1));
  const KeptView left{a.data(), nullptr, rows, units}, right{b.data(), nullptr, samples, units};
  for (const Backend& backend : test::backends(&Kernels::kernel_rows)) {
    GuardedMatrix<float> k(rows, samples);
    if (rows > 0 && samples > 0) {
      REQUIRE(test::run(backend, &Kernels::kernel_rows, left, right, writes(k)).ok());
    }
    bool same = true;
    for (int r = 0; r < rows; ++r) {
      for (int n = 0; n < samples; ++n) same = same && k(r, n) == defined(left, right, r, n);
    }
    CAPTURE(rows, samples, units, largest, backend.name);
    REQUIRE(same);
    REQUIRE(k.untouched());
  }
}

TEST_CASE("kernel_rows: the largest sum is whole, then rounded once", "[kernels][kernel_rows]") {
  const int units = 20000;
  std::vector<std::uint8_t> full(std::size_t(units), 255);
  full.back() = 254;  // an odd sum above 2^24
  const KeptView row{full.data(), nullptr, 1, units};
  for (const Backend& backend : test::backends(&Kernels::kernel_rows)) {
    GuardedMatrix<float> k(1, 1);
    REQUIRE(test::run(backend, &Kernels::kernel_rows, row, row, writes(k)).ok());
    REQUIRE(k(0, 0) == float(19999ll * 255 * 255 + 254 * 254));
  }
}

TEST_CASE("kernel_rows: floats are close to the definition", "[kernels][kernel_rows]") {
  const int rows = 5, samples = 9, units = 250;
  std::mt19937 random(2);
  const auto draw = [&] { return float(random()) / 4e9f - 0.5f; };
  std::vector<float> a(std::size_t(rows * units)), b(std::size_t(samples * units));
  for (float& value : a) value = draw();
  for (float& value : b) value = draw();
  const KeptView left{nullptr, a.data(), rows, units}, right{nullptr, b.data(), samples, units};
  for (const Backend& backend : test::backends(&Kernels::kernel_rows)) {
    CAPTURE(backend.name);
    GuardedMatrix<float> k(rows, samples);
    REQUIRE(test::run(backend, &Kernels::kernel_rows, left, right, writes(k)).ok());
    for (int r = 0; r < rows; ++r) {
      for (int n = 0; n < samples; ++n) {
        REQUIRE(std::abs(k(r, n) - defined(left, right, r, n)) < 1e-4);
      }
    }
    REQUIRE(k.untouched());
  }
}

}  // namespace engram
