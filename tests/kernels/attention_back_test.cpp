// attention_back: the formulas in double against differences of attention's definition, then every
// backend against the formulas.
#include "kernels/attention_back.h"

#include <limits>

#include "tests/support/attention_case.h"
#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"
#include "tests/support/thread_count.h"

namespace engram {
namespace {

using test::AttentionCase;
using test::AttentionDefined;
using test::AttentionShape;
using test::Backend;
using test::GuardedMatrix;
using test::reads;
using test::writes;

// `size`: of the scores, whose rounding probabilities show.
int wrong(const AttentionCase& c, const GuardedMatrix<float>& dqkv, double size = 1.0) {
  const AttentionShape& s = c.shape;
  int count = 0;
  for (int b = 0; b < s.pictures; ++b) {
    for (int h = 0; h < s.heads; ++h) {
      const auto wanted = c.parts[std::size_t(b * s.heads + h)].gradient(c.part(c.dout, b, h, 1));
      const std::vector<double> got = c.part(dqkv, b, h, 3);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        count += !(std::fabs(got[i] - wanted[i]) <= 1e-5 * size * (1 + std::fabs(wanted[i])));
      }
    }
  }
  return count;
}

}  // namespace

TEST_CASE("attention_back: the formulas are the gradient of the definition",
          "[kernels][attention_back]") {
  const AttentionCase c({1, GENERATE(1, 2, 7), 1, GENERATE(1, 3)});
  const std::vector<double> dout = c.part(c.dout, 0, 0, 1), formulas = c.parts[0].gradient(dout);
  const auto differences = test::gradient_by_differences(
      c.part(c.qkv, 0, 0, 3), [&](const std::vector<double>& numbers) {
        const AttentionDefined there(numbers, c.shape.tokens, c.shape.head, c.shape.scale);
        double sum = 0;
        for (std::size_t i = 0; i < dout.size(); ++i) sum += dout[i] * there.out[i];
        return sum;
      });
  REQUIRE(differences.size() == formulas.size());
  for (std::size_t i = 0; i < formulas.size(); ++i) {
    REQUIRE(std::fabs(formulas[i] - differences[i]) < 1e-7);
  }
}

TEST_CASE("attention_back: equals the formulas", "[kernels][attention_back]") {
  const AttentionShape shape = GENERATE(
      AttentionShape{0, 3, 2, 4}, AttentionShape{1, 1, 1, 1}, AttentionShape{1, 2, 2, 5},
      AttentionShape{2, 15, 1, 16}, AttentionShape{1, 16, 2, 15}, AttentionShape{1, 17, 1, 17},
      AttentionShape{1, 31, 3, 31}, AttentionShape{2, 32, 1, 32}, AttentionShape{1, 33, 2, 33},
      AttentionShape{1, 48, 1, 64}, AttentionShape{1, 64, 1, 63}, AttentionShape{1, 65, 1, 65},
      AttentionShape{1, 20, 1, 127}, AttentionShape{1, 17, 1, 128}, AttentionShape{1, 67, 1, 8});
  const AttentionCase c(shape);
  for (const Backend& backend : test::backends(&Kernels::attention_back)) {
    CAPTURE(shape.pictures, shape.tokens, shape.heads, shape.head, backend.name);
    GuardedMatrix<float> dqkv(shape.rows(), 3 * shape.width());
    REQUIRE(test::run(backend, &Kernels::attention_back, reads(c.dout), reads(c.qkv), reads(c.out),
                      reads(c.logsums), shape.tokens, shape.heads, shape.scale, writes(dqkv))
                .ok());
    REQUIRE(wrong(c, dqkv) == 0);
    REQUIRE(dqkv.untouched());
  }
}

TEST_CASE("attention_back: several blocks of rows, the same bits for every number of threads",
          "[kernels][attention_back]") {
  if (simt::hooks().allocated) return;  // the CPU's blocks
  const AttentionCase c({1, GENERATE(128, 129, 257, 300), 2, 8});
  GuardedMatrix<float> one(c.shape.rows(), 3 * c.shape.width()), two = one;
  const auto on = [&](int threads, GuardedMatrix<float>& dqkv) {
    const test::ThreadCount with(threads);
    return cpu::attention_back(Stream{}, c.dout.read(), c.qkv.read(), c.out.read(),
                               c.logsums.read(), c.shape.tokens, c.shape.heads, c.shape.scale,
                               dqkv.view());
  };
  REQUIRE(on(1, one).ok());
  CHECK(wrong(c, one) == 0);
  REQUIRE(on(2, two).ok());
  CHECK(one == two);
}

// Of a key that is not there the score would be 0: beside these, without end.
TEST_CASE("attention_back: scores far below zero", "[kernels][attention_back]") {
  const AttentionShape shape{1, GENERATE(17, 40), 1, 4, -50.0f};
  AttentionCase c(shape, 0.5f, [](float value) { return 1.0f + std::fabs(value); });
  REQUIRE(c.logsums(0, 0) < -100.0f);
  for (const Backend& backend : test::backends(&Kernels::attention_back)) {
    CAPTURE(shape.tokens, backend.name);
    GuardedMatrix<float> dqkv(shape.rows(), 3 * shape.width());
    REQUIRE(test::run(backend, &Kernels::attention_back, reads(c.dout), reads(c.qkv), reads(c.out),
                      reads(c.logsums), shape.tokens, shape.heads, shape.scale, writes(dqkv))
                .ok());
    REQUIRE(wrong(c, dqkv, 200.0) == 0);
  }
}

TEST_CASE("attention_back: what is not a number reaches its picture and head only",
          "[kernels][attention_back]") {
  AttentionCase c({2, 18, 2, 4});
  c.dout(18 + 17, 4) = std::numeric_limits<float>::quiet_NaN();  // of the last token, head 1
  for (const Backend& backend : test::backends(&Kernels::attention_back)) {
    CAPTURE(backend.name);
    GuardedMatrix<float> dqkv(c.shape.rows(), 3 * c.shape.width());
    REQUIRE(test::run(backend, &Kernels::attention_back, reads(c.dout), reads(c.qkv), reads(c.out),
                      reads(c.logsums), c.shape.tokens, c.shape.heads, c.shape.scale, writes(dqkv))
                .ok());
    int strange = 0, found = 0;
    for (int r = 0; r < dqkv.rows(); ++r) {
      for (int i = 0; i < dqkv.cols(); ++i) {
        found += std::isnan(dqkv(r, i));
        strange += std::isnan(dqkv(r, i)) && (r < 18 || i % 8 < 4);
      }
    }
    REQUIRE(strange == 0);
    REQUIRE(found > 0);
  }
}

}  // namespace engram
