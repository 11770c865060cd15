// cholesky: UT U against G + lambda I in double; G is never touched.
#include "kernels/cholesky.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "kernels/gram_update.h"
#include "tests/support/catch.h"
#include "tests/support/gram_case.h"
#include "tests/support/kernel_backends.h"

namespace engram {
namespace {

using test::GramCase;
using test::GuardedMatrix;
using test::residual;

GuardedMatrix<float> hidden_units(int frames, int units) {
  std::mt19937 random(1);
  GuardedMatrix<float> h(frames, units);
  h.fill([&] { return random() % 32; });
  return h;
}

// G of the given rows, and rubbish where the factor will be.
GramCase learned(const GuardedMatrix<float>& h) {
  GramCase g(h.cols());
  for (int r = 0; r < h.cols(); ++r)
    for (int c = 0; c < h.cols(); ++c) g.buffer(r, c) = c < r ? 0.0f : std::nanf("");
  g.diagonal.fill([] { return 0.0f; });
  REQUIRE(cpu::gram_update(Stream{}, h.read(), 1.0f, g.view()).ok());
  return g;
}

void require_gram_kept(const GramCase& g, const GramCase& before) {
  REQUIRE(g.same_below(before));
  REQUIRE(g.diagonal == before.diagonal);
  REQUIRE(g.untouched());
}

}  // namespace

TEST_CASE("cholesky: UT U is G + lambda I, and G is kept", "[kernels][cholesky]") {
  const int units = GENERATE(1, 2, 31, 32, 33, 150, 192, 193, 400);  // blocks of 192
  const int frames = GENERATE(1, 40, 400);                           // rank below and above M
  const float lambda = GENERATE(1.0f, 1000.0f);
  GramCase before = learned(hidden_units(frames, units));
  const GuardedMatrix<float> nothing(0, units);
  for (const test::Backend& backend : test::backends(&Kernels::cholesky)) {
    CAPTURE(units, frames, lambda, backend.name);
    GramCase g = before;
    REQUIRE(test::run(backend, &Kernels::cholesky, lambda, test::reads(nothing), &g).ok());
    REQUIRE(residual(g, before, lambda) < 1e-5);
    require_gram_kept(g, before);
  }
}

TEST_CASE("cholesky: the same bits with any number of threads", "[kernels][cholesky]") {
  const GramCase before = learned(hidden_units(50, 1000));
  GramCase one = before;
  {
    const test::OnPath on({cpu::best_simd(), 1});
    REQUIRE(cpu::cholesky(Stream{}, 10.0f, {}, one.view()).ok());
  }
  for (const int threads : {2, 3}) {
    const test::OnPath on({cpu::best_simd(), threads});
    GramCase g = before;
    REQUIRE(cpu::cholesky(Stream{}, 10.0f, {}, g.view()).ok());
    REQUIRE(g.same_on_and_above(one));
  }
}

TEST_CASE("cholesky: held-out rows are left out of the factor only", "[kernels][cholesky]") {
  const int held = GENERATE(1, 7, 60);
  CAPTURE(held);
  const GuardedMatrix<float> h = hidden_units(60, 80);
  const GramCase before = learned(h);
  GuardedMatrix<float> rest(60 - held, 80);
  for (int b = held; b < 60; ++b)
    for (int m = 0; m < 80; ++m) rest(b - held, m) = h(b, m);
  GramCase wanted = learned(rest);

  const auto held_out = test::reads(h.read().row_range(0, held));
  const auto nothing = test::reads(h.read().row_range(0, 0));
  for (const test::Backend& backend : test::backends(&Kernels::cholesky)) {
    CAPTURE(backend.name);
    GramCase g = before;
    REQUIRE(test::run(backend, &Kernels::cholesky, 100.0f, held_out, &g).ok());
    REQUIRE(residual(g, wanted, 100.0f) < 1e-5);
    require_gram_kept(g, before);

    // And again without: nothing of the first factor is left behind.
    REQUIRE(test::run(backend, &Kernels::cholesky, 100.0f, nothing, &g).ok());
    GramCase all = before;
    REQUIRE(residual(g, all, 100.0f) < 1e-5);
  }
}

TEST_CASE("cholesky: what has no factor is bad data, and G is kept", "[kernels][cholesky]") {
  const int place = GENERATE(0, 1, 2, 3);
  constexpr float kBad[] = {-1e6f, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(), 1e30f};
  for (const float bad : kBad) {
    CAPTURE(place, bad);
    GramCase before = learned(hidden_units(10, 70));
    // On the diagonal a large number is good; off it, it breaks positive definiteness.
    if (place == 0) before.diagonal(0, 0) = bad == 1e30f ? -1.0f - 2e6f : bad;
    if (place == 1) before.diagonal(0, 69) = bad == 1e30f ? -1.0f - 2e6f : bad;
    if (place == 2) before.buffer(1, 0) = bad;
    if (place == 3) before.buffer(69, 35) = bad;
    const GuardedMatrix<float> nothing(0, 70);
    for (const test::Backend& backend : test::backends(&Kernels::cholesky)) {
      CAPTURE(backend.name);
      GramCase g = before;
      const Status status = test::run(backend, &Kernels::cholesky, 1.0f, test::reads(nothing), &g);
      REQUIRE(status.code() == Code::bad_data);
      REQUIRE(std::string(status.what()).find("positive definite") != std::string::npos);
      require_gram_kept(g, before);
    }
  }
}

TEST_CASE("cholesky: nothing to factor", "[kernels][cholesky]") {
  GramCase g(0);
  const GuardedMatrix<float> nothing(0, 0);
  for (const test::Backend& backend : test::backends(&Kernels::cholesky)) {
    REQUIRE(test::run(backend, &Kernels::cholesky, 1.0f, test::reads(nothing), &g).ok());
  }
}

}  // namespace engram
