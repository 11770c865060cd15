// attention: against the definition in double.
#include "kernels/attention.h"

#include <limits>

#include "tests/support/attention_case.h"
#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"
#include "tests/support/thread_count.h"

namespace engram {
namespace {

using test::AttentionCase;
using test::AttentionShape;
using test::Backend;
using test::GuardedMatrix;
using test::reads;
using test::writes;

struct Outcome {
  explicit Outcome(const AttentionShape& s)
      : out(s.rows(), s.width()), logsums(s.pictures * s.heads, s.tokens) {}
  GuardedMatrix<float> out, logsums;
};

// `size`: of the scores, whose rounding probabilities show.
int wrong(const AttentionCase& c, const Outcome& result, double size = 1.0) {
  int count = 0;
  for (int r = 0; r < c.out.rows(); ++r) {
    for (int i = 0; i < c.out.cols(); ++i) {
      count += !(std::fabs(result.out(r, i) - c.out(r, i)) <=
                 5e-6 * size * (1 + std::fabs(c.out(r, i))));
    }
  }
  for (int r = 0; r < c.logsums.rows(); ++r) {
    for (int i = 0; i < c.logsums.cols(); ++i) {
      count += !(std::fabs(result.logsums(r, i) - c.logsums(r, i)) <=
                 2e-6 * (1 + std::fabs(c.logsums(r, i))));
    }
  }
  return count;
}

Status run(const Backend& backend, const AttentionCase& c, Outcome& result) {
  return test::run(backend, &Kernels::attention, reads(c.qkv), c.shape.tokens, c.shape.heads,
                   c.shape.scale, writes(result.out), writes(result.logsums));
}

}  // namespace

TEST_CASE("attention: equals the definition", "[kernels][attention]") {
  const AttentionShape shape = GENERATE(
      AttentionShape{0, 3, 2, 4}, AttentionShape{1, 1, 1, 1}, AttentionShape{1, 2, 2, 5},
      AttentionShape{2, 15, 1, 16}, AttentionShape{1, 16, 2, 15}, AttentionShape{1, 17, 1, 17},
      AttentionShape{1, 31, 3, 31}, AttentionShape{2, 32, 1, 32}, AttentionShape{1, 33, 2, 33},
      AttentionShape{1, 63, 1, 64}, AttentionShape{1, 64, 1, 63}, AttentionShape{1, 65, 1, 65},
      AttentionShape{1, 34, 1, 127}, AttentionShape{1, 33, 1, 128}, AttentionShape{1, 97, 1, 8});
  const AttentionCase c(shape);
  for (const Backend& backend : test::backends(&Kernels::attention)) {
    CAPTURE(shape.pictures, shape.tokens, shape.heads, shape.head, backend.name);
    Outcome result(shape);
    REQUIRE(run(backend, c, result).ok());
    REQUIRE(wrong(c, result) == 0);
    REQUIRE(result.out.untouched());
    REQUIRE(result.logsums.untouched());
  }
}

TEST_CASE("attention: several blocks of rows, the same bits for every number of threads",
          "[kernels][attention]") {
  if (simt::hooks().allocated) return;  // the CPU's blocks
  const AttentionCase c({1, GENERATE(128, 129, 257, 300), 2, 8});
  Outcome one(c.shape), two(c.shape);
  const auto on = [&](int threads, Outcome& result) {
    const test::ThreadCount with(threads);
    return cpu::attention(Stream{}, c.qkv.read(), c.shape.tokens, c.shape.heads, c.shape.scale,
                          result.out.view(), result.logsums.view());
  };
  REQUIRE(on(1, one).ok());
  CHECK(wrong(c, one) == 0);
  REQUIRE(on(2, two).ok());
  CHECK(one.out == two.out);
  CHECK(one.logsums == two.logsums);
}

TEST_CASE("attention: scores of any size, and the last key as good as the first",
          "[kernels][attention]") {
  const AttentionShape shape{1, 37, 1, 8, GENERATE(-40.0f, 40.0f)};
  const AttentionCase c(shape);  // scores of hundreds, whose exp no float holds
  for (const Backend& backend : test::backends(&Kernels::attention)) {
    CAPTURE(shape.scale, backend.name);
    Outcome result(shape);
    REQUIRE(run(backend, c, result).ok());
    REQUIRE(wrong(c, result, 500.0) == 0);
  }
}

TEST_CASE("attention: what is not a number reaches its picture and head only",
          "[kernels][attention]") {
  AttentionCase c({2, 18, 2, 4});
  c.qkv(18 + 17, 4) = std::numeric_limits<float>::quiet_NaN();  // q of the last token, head 1
  for (const Backend& backend : test::backends(&Kernels::attention)) {
    CAPTURE(backend.name);
    Outcome result(c.shape);
    REQUIRE(run(backend, c, result).ok());
    int strange = 0;
    for (int r = 0; r < c.out.rows(); ++r) {
      for (int i = 0; i < c.out.cols(); ++i) {
        strange += std::isnan(result.out(r, i)) != (r == 18 + 17 && i >= 4);
      }
    }
    REQUIRE(strange == 0);
  }
}

}  // namespace engram
