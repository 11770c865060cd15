// gram_update: whole numbers, so every path and every split gives the same bits.
#include "kernels/gram_update.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/support/catch.h"
#include "tests/support/gram_case.h"
#include "tests/support/kernel_backends.h"
#include "tests/support/worst.h"

namespace engram {
namespace {

using test::Backend;
using test::GramCase;
using test::GuardedMatrix;
using test::reads;

GuardedMatrix<float> whole_numbers(int frames, int units, unsigned hmax, unsigned seed) {
  std::mt19937 random(seed);
  GuardedMatrix<float> h(frames, units);
  h.fill([&] { return random() % (hmax + 1); });
  return h;
}

// Random whole numbers for G, and a factor above that must survive.
GramCase random_gram(int units, unsigned seed) {
  std::mt19937 random(seed);
  GramCase g(units);
  g.buffer.fill([&] { return random() % 1000; });
  g.diagonal.fill([&] { return random() % 1000; });
  return g;
}

void learn(const Backend& backend, MatrixView<const float> h, float sign, GramCase& g) {
  const Status status = test::run(backend, &Kernels::gram_update, reads(h), sign, &g);
  INFO(status.what());
  REQUIRE(status.ok());
}
void learn(const Backend& backend, const GuardedMatrix<float>& h, float sign, GramCase& g) {
  learn(backend, h.read(), sign, g);
}

// The definition in the header, read literally.
GramCase defined(const GuardedMatrix<float>& h, float sign, GramCase g) {
  for (int r = 0; r < h.cols(); ++r) {
    for (int c = 0; c <= r; ++c) {
      double sum = 0.0;
      for (int b = 0; b < h.rows(); ++b) sum += double{h(b, r)} * h(b, c);
      float& place = r == c ? g.diagonal(0, r) : g.buffer(r, c);
      place = static_cast<float>(place + sign * sum);
    }
  }
  return g;
}

void require_same(const GramCase& got, const GramCase& expected) {
  REQUIRE(got.buffer == expected.buffer);  // with the factor above and the guards
  REQUIRE(got.diagonal == expected.diagonal);
}

}  // namespace

// Below, at and above every edge. On the CPU a tile is 6 rows by 16 columns, a block up to 240 rows
// and a few hundred columns; on a GPU a tile is 64 by 64, a stage 32 frames. A pass is 256 frames.
TEST_CASE("gram_update: equals the definition", "[kernels][gram_update]") {
  const int units = GENERATE(0, 1, 2, 5, 6, 7, 15, 16, 17, 31, 33, 47, 48, 49, 63, 64, 65, 127, 128,
                             129, 239, 240, 241);
  const int frames = GENERATE(0, 1, 2, 3, 16, 31, 32, 33, 48, 65);
  const float sign = GENERATE(1.0f, -1.0f);
  const GuardedMatrix<float> h = whole_numbers(frames, units, 31, 1);
  const GramCase expected = defined(h, sign, random_gram(units, 2));
  for (const Backend& backend : test::backends(&Kernels::gram_update)) {
    CAPTURE(units, frames, sign, backend.name);
    if (backend.on_device() && sign < 0 && frames > 3) continue;  // the sign comes in at the end
    GramCase g = random_gram(units, 2);
    learn(backend, h, sign, g);
    require_same(g, expected);
  }
}

TEST_CASE("gram_update: long batches and wide matrices", "[kernels][gram_update]") {
  const auto [frames, units] =
      GENERATE(std::pair{255, 130}, std::pair{256, 129}, std::pair{257, 50}, std::pair{700, 40},
               std::pair{1, 2100}, std::pair{3, 700});
  const GuardedMatrix<float> h = whole_numbers(frames, units, 31, 3);
  const GramCase expected = defined(h, 1.0f, random_gram(units, 4));
  for (const Backend& backend : test::backends(&Kernels::gram_update)) {
    CAPTURE(units, frames, backend.name);
    GramCase g = random_gram(units, 4);
    learn(backend, h, 1.0f, g);
    require_same(g, expected);
  }
}

TEST_CASE("gram_update: any order, any split, any path, the same bits", "[kernels][gram_update]") {
  // hmax 255 and 256 frames: sums up to 256 * 255^2 = 16 646 400, just below 2^24.
  const GuardedMatrix<float> h = whole_numbers(256, 300, 255, 5);
  GramCase expected(300);
  expected.buffer.fill([] { return 0; });
  expected.diagonal.fill([] { return 0; });
  GramCase empty = expected;
  expected = defined(h, 1.0f, expected);
  for (const Backend& backend : test::backends(&Kernels::gram_update)) {
    for (const int batch : {1, 7, 48, 256}) {
      if (batch == 1 && backend.on_device()) continue;  // 256 launches: long to emulate
      CAPTURE(batch, backend.name);
      GramCase g = empty;
      for (int end = 256; end > 0; end -= batch) {  // the last frames first
        const int first = std::max(0, end - batch);
        learn(backend, h.read().row_range(first, end - first), 1.0f, g);
      }
      require_same(g, expected);
    }
  }
}

TEST_CASE("gram_update: unlearning undoes learning to the bit", "[kernels][gram_update]") {
  const GuardedMatrix<float> h = whole_numbers(33, 100, 63, 6);
  for (const Backend& backend : test::backends(&Kernels::gram_update)) {
    const GramCase before = random_gram(100, 7);
    GramCase g = before;
    learn(backend, h, 1.0f, g);
    REQUIRE_FALSE(g.same_below(before));
    REQUIRE(g.same_on_and_above(before));
    learn(backend, h, -1.0f, g);
    require_same(g, before);
  }
}

TEST_CASE("gram_update: a float SYRK for real numbers", "[kernels][gram_update]") {
  const int frames = GENERATE(1, 48, 100, 300);
  std::mt19937 random(8);
  std::normal_distribution<float> normal;
  GuardedMatrix<float> h(frames, 150);
  h.fill([&] { return normal(random); });
  for (const Backend& backend : test::backends(&Kernels::gram_update)) {
    CAPTURE(backend.name);
    GramCase g(150);
    for (int r = 0; r < 150; ++r)
      for (int c = 0; c < 150; ++c) g.buffer(r, c) = c < r ? 0.0f : -7.0f;
    const GramCase before = g;
    g.diagonal.fill([] { return 0.0f; });
    learn(backend, h, 1.0f, g);
    test::Worst worst;
    for (int r = 0; r < 150; ++r) {
      for (int c = 0; c <= r; ++c) {
        double sum = 0.0, size = 0.0;
        for (int b = 0; b < frames; ++b) {
          sum += double{h(b, r)} * h(b, c);
          size += std::fabs(double{h(b, r)} * h(b, c));
        }
        worst.see(std::fabs(g.view().gram(r, c) - sum) / size);
      }
    }
    REQUIRE(worst.value() < 1e-6);
    REQUIRE(g.same_on_and_above(before));
    REQUIRE(g.untouched());
  }
}

// One fraction, one number too large for 16 bits, one NaN: such a batch is taken as real numbers.
TEST_CASE("gram_update: a batch that is nearly whole numbers", "[kernels][gram_update]") {
  const float odd_one =
      GENERATE(0.5f, 256.0f, 2049.0f, 40000.0f, std::numeric_limits<float>::quiet_NaN());
  const int place = GENERATE(0, 69);
  for (const Backend& backend : test::backends(&Kernels::gram_update)) {
    CAPTURE(odd_one, place, backend.name);
    GuardedMatrix<float> h = whole_numbers(3, 70, 31, 9);
    h(2, place) = odd_one;
    GramCase g = random_gram(70, 10);
    const GramCase before = g;
    learn(backend, h, 1.0f, g);
    for (int r = 0; r < 70; ++r) {
      for (int c = 0; c <= r; ++c) {
        double expected = GramCase(before).view().gram(r, c);
        for (int b = 0; b < 3; ++b) expected += double{h(b, r)} * h(b, c);
        const float got = g.view().gram(r, c);
        REQUIRE((std::isnan(expected) ? std::isnan(got)
                                      : std::fabs(got - expected) <= 1e-6 * std::fabs(expected)));
      }
    }
    REQUIRE(g.same_on_and_above(before));
  }
}

}  // namespace engram
