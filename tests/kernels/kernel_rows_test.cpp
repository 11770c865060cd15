// kernel_rows: whole numbers, so compared with ==; floats against double.
#include "kernels/kernel_rows.h"

#include <cmath>
#include <random>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/guarded_matrix.h"
#include "tests/support/kernel_paths.h"

namespace engram {
namespace {

using test::GuardedMatrix;

double defined(KeptView left, KeptView right, int b, int n) {
  double sum = 0;
  for (int m = 0; m < left.cols; ++m) sum += left.at(b, m) * right.at(n, m);
  return sum;
}

}  // namespace

TEST_CASE("kernel_rows: bytes equal the definition", "[kernels][kernel_rows]") {
  const int rows = GENERATE(0, 1, 2, 3, 17);
  const int samples = GENERATE(0, 1, 4, 5, 33);
  const int units = GENERATE(1, 15, 16, 17, 300);
  const unsigned largest = GENERATE(31, 255);
  std::mt19937 random(1);
  std::vector<std::uint8_t> a(std::size_t(rows * units)), b(std::size_t(samples * units));
  for (std::uint8_t& value : a) value = std::uint8_t(random() % (largest + 1));
  for (std::uint8_t& value : b) value = std::uint8_t(random() % (largest + 1));
  const KeptView left{a.data(), nullptr, rows, units}, right{b.data(), nullptr, samples, units};
  for (const test::Path path : test::kernel_paths()) {
    const test::OnPath on(path);
    GuardedMatrix<float> k(rows, samples);
    if (rows > 0 && samples > 0) {
      REQUIRE(cpu::kernel_rows(Stream{}, left, right, k.view()).ok());
    }
    bool same = true;
    for (int r = 0; r < rows; ++r) {
      for (int n = 0; n < samples; ++n) same = same && k(r, n) == defined(left, right, r, n);
    }
    CAPTURE(rows, samples, units, largest, cpu::name(path.simd), path.threads);
    REQUIRE(same);
    REQUIRE(k.untouched());
  }
}

TEST_CASE("kernel_rows: the largest sum is whole, then rounded once", "[kernels][kernel_rows]") {
  const int units = 20000;
  std::vector<std::uint8_t> full(std::size_t(units), 255);
  full.back() = 254;  // an odd sum above 2^24
  const KeptView row{full.data(), nullptr, 1, units};
  for (const test::Path path : test::kernel_paths()) {
    const test::OnPath on(path);
    GuardedMatrix<float> k(1, 1);
    REQUIRE(cpu::kernel_rows(Stream{}, row, row, k.view()).ok());
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
  GuardedMatrix<float> k(rows, samples);
  REQUIRE(cpu::kernel_rows(Stream{}, left, right, k.view()).ok());
  for (int r = 0; r < rows; ++r) {
    for (int n = 0; n < samples; ++n) {
      REQUIRE(std::abs(k(r, n) - defined(left, right, r, n)) < 1e-4);
    }
  }
  REQUIRE(k.untouched());
}

}  // namespace engram
