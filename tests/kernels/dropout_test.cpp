// dropout: to the bit; the mask belongs to the counters, not to the batch.
#include "kernels/dropout.h"

#include <cmath>
#include <limits>

#include "platform/philox.h"
#include "tests/support/catch.h"
#include "tests/support/double_matrix.h"
#include "tests/support/random_matrix.h"

namespace engram {
namespace {

using test::Backend;
using test::GuardedMatrix;
using test::random_matrix;
using test::reads;
using test::writes;

// The definition in the header, read literally.
bool is_kept(std::uint64_t n, float rate, std::uint64_t seed) {
  const PhiloxWords words = philox(
      {std::uint32_t(n / 4), std::uint32_t(n / 4 >> 32), 0, std::uint32_t(PhiloxStream::dropout)},
      seed);
  return double(words[n % 4]) >= double{rate} * 4294967296.0;
}

}  // namespace

TEST_CASE("dropout: equals the definition to the bit", "[kernels][dropout]") {
  const float rate = GENERATE(0.0f, 0.1f, 0.75f);
  const std::uint64_t first = GENERATE(0ull, 3ull, (1ull << 34) - 6, ~0ull - 4);
  const std::uint64_t seed = 0x123456789abcdefull;
  const float larger = 1.0f / (1.0f - rate);
  for (const auto [rows, cols] : test::elementwise_shapes()) {
    const GuardedMatrix<float> x = random_matrix(rows, cols, 1);
    GuardedMatrix<float> expected(rows, cols);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {
        const std::uint64_t n = first + std::uint64_t(r) * std::uint64_t(cols) + std::uint64_t(c);
        expected(r, c) = is_kept(n, rate, seed) ? x(r, c) * larger : 0.0f;
      }
    }
    for (const Backend& backend : test::backends(&Kernels::dropout)) {
      CAPTURE(rows, cols, rate, first, backend.name);
      GuardedMatrix<float> y(rows, cols), same = x;
      REQUIRE(test::run(backend, &Kernels::dropout, reads(x), rate, seed, first, writes(y)).ok());
      REQUIRE(y == expected);
      if (cols > 1000) continue;
      {
        const test::InPlace both(backend, same);
        REQUIRE(test::run(backend, &Kernels::dropout, both.read(), rate, seed, first, both.write())
                    .ok());
      }
      REQUIRE(same == expected);
    }
  }
}

TEST_CASE("dropout: a batch in pieces meets the same mask", "[kernels][dropout]") {
  const GuardedMatrix<float> x = random_matrix(7, 5, 1);
  for (const Backend& backend : test::backends(&Kernels::dropout)) {
    CAPTURE(backend.name);
    GuardedMatrix<float> whole(7, 5), last(4, 5);
    REQUIRE(test::run(backend, &Kernels::dropout, reads(x), 0.5f, std::uint64_t{9},
                      std::uint64_t{100}, writes(whole))
                .ok());
    REQUIRE(test::run(backend, &Kernels::dropout, reads(x.read().row_range(3, 4)), 0.5f,
                      std::uint64_t{9}, std::uint64_t{100 + 3 * 5}, writes(last))
                .ok());
    for (int r = 0; r < 4; ++r)
      for (int c = 0; c < 5; ++c) REQUIRE(last(r, c) == whole(3 + r, c));
  }
}

TEST_CASE("dropout: drops its share, and what is not a number too", "[kernels][dropout]") {
  const float rate = GENERATE(0.1f, 0.5f);
  const std::uint64_t seed = GENERATE(0ull, 1ull);
  GuardedMatrix<float> x(1, 20000), y(1, 20000);
  x.fill([] { return std::numeric_limits<float>::quiet_NaN(); });
  REQUIRE(kCpuKernels.dropout(Stream{}, x.read(), rate, seed, 0, y.view()).ok());
  int dropped = 0;
  for (int c = 0; c < y.cols(); ++c) dropped += y(0, c) == 0.0f;
  const double deviation = std::sqrt(20000.0 * rate * (1 - rate));
  CHECK(std::fabs(dropped - 20000.0 * rate) < 4 * deviation);
}

}  // namespace engram
