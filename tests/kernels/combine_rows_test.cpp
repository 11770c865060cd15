// combine_rows: against the definition in double; exact where weights are small whole numbers.
#include "kernels/combine_rows.h"

#include <cmath>
#include <random>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"
#include "tests/support/worst.h"

namespace engram {
namespace {

using test::Backend;
using test::GuardedMatrix;
using test::reads;
using test::updates;

struct Case {
  Case(int sums, int samples, int units, bool whole)
      : weights(sums, samples),
        before(sums, units),
        bytes(std::size_t(samples * units)),
        floats(std::size_t(samples * units)) {
    std::mt19937 random(3);
    weights.fill([&] {
      return whole ? double(int(random() % 9) - 4) : double(random()) / 2147483648.0 - 1.0;
    });
    before.fill([&] { return random() % 100; });
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = std::uint8_t(random() % 256);
      floats[i] = float(bytes[i]);
    }
  }
  // The largest difference from the definition, over the size of the sums.
  double worst(const Backend& backend, KeptView kept) {
    GuardedMatrix<float> sums = before;
    REQUIRE(test::run(backend, &Kernels::combine_rows, reads(weights), kept, updates(sums)).ok());
    REQUIRE(sums.untouched());
    test::Worst largest;
    for (int r = 0; r < sums.rows(); ++r) {
      for (int m = 0; m < sums.cols(); ++m) {
        double expected = before(r, m), size = 1.0;
        for (int n = 0; n < weights.cols(); ++n) {
          expected += double(weights(r, n)) * kept.at(n, m);
          size += std::abs(double(weights(r, n)) * kept.at(n, m));
        }
        largest.see(std::abs(sums(r, m) - expected) / size);
      }
    }
    return largest.value();
  }
  GuardedMatrix<float> weights, before;
  std::vector<std::uint8_t> bytes;
  std::vector<float> floats;
};

}  // namespace

TEST_CASE("combine_rows: equals the definition", "[kernels][combine_rows]") {
  const int sums = GENERATE(1, 3, 4, 5, 8, 9);
  const int samples = GENERATE(1, 7, 8, 128, 129, 300);
  const int units = GENERATE(1, 16, 65, 127, 129, 256, 257);
  Case whole(sums, samples, units, true), real(sums, samples, units, false);
  for (const Backend& backend : test::backends(&Kernels::combine_rows)) {
    CAPTURE(sums, samples, units, backend.name);
    CHECK(whole.worst(backend, {whole.bytes.data(), nullptr, samples, units}) == 0.0);
    CHECK(real.worst(backend, {real.bytes.data(), nullptr, samples, units}) < 1e-5);
    CHECK(real.worst(backend, {nullptr, real.floats.data(), samples, units}) < 1e-5);
  }
}

TEST_CASE("combine_rows: the same bits for every thread count", "[kernels][combine_rows]") {
  const int sums = GENERATE(1, 6), samples = GENERATE(3, 200);
  const bool bytes = GENERATE(false, true);
  CAPTURE(sums, samples, bytes);
  constexpr int kUnits = 3003;
  Case c(sums, samples, kUnits, false);
  const KeptView kept = bytes ? KeptView{c.bytes.data(), nullptr, samples, kUnits}
                              : KeptView{nullptr, c.floats.data(), samples, kUnits};
  std::vector<GuardedMatrix<float>> results;
  for (const int threads : {1, 2, 3}) {
    const test::OnPath on({cpu::best_simd(), threads});
    results.push_back(c.before);
    REQUIRE(cpu::combine_rows(Stream{}, c.weights.read(), kept, results.back().view()).ok());
  }
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
}

TEST_CASE("combine_rows: no samples and no sums change nothing", "[kernels][combine_rows]") {
  Case c(2, 3, 10, false);
  GuardedMatrix<float> sums = c.before;
  const MatrixView<const float> none{c.weights.read().data, 2, 0, 3};
  for (const Backend& backend : test::backends(&Kernels::combine_rows)) {
    const KeptView nothing{c.bytes.data(), nullptr, 0, 10};
    REQUIRE(test::run(backend, &Kernels::combine_rows, reads(none), nothing, updates(sums)).ok());
    CHECK(sums == c.before);
  }
}

}  // namespace engram
