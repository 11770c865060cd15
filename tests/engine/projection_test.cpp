#include "engine/projection.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "engine/memory_plan.h"
#include "kernels/kernels.h"
#include "tests/support/catch.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

// h (B, M) of features by a projection of that config.
std::vector<float> hidden(const LearnerConfig& config, const test::Samples& samples) {
  Arena arena = std::move(Arena::create(std::size_t{64} << 20)).value();
  const Projection projection(config, kCpuKernels, arena);
  const ProjectionScratch scratch = ProjectionScratch::take(config, kMaxBatchRows, arena);
  std::vector<float> h(std::size_t(samples.count() * config.hidden_units()));
  const MatrixView<float> view{h.data(), samples.count(), config.hidden_units(),
                               config.hidden_units()};
  REQUIRE(projection.from_features(samples.features(), scratch, view).ok());

  // The same from the form that the journal keeps.
  std::vector<std::byte> rows(projection.row_bytes() * std::size_t(samples.count()));
  REQUIRE(projection.encode(samples.features(), rows.data()).ok());
  std::vector<float> again(h.size());
  REQUIRE(
      projection.from_rows(rows.data(), scratch, {again.data(), view.rows, view.cols, view.cols})
          .ok());
  CHECK(h == again);
  return h;
}

}  // namespace

TEST_CASE("projection: a smaller M is a prefix of a larger one", "[engine][projection]") {
  const test::Samples samples = test::make_samples(2, 3, 45);
  for (const bool exact : {true, false}) {
    const auto config = [&](int m) {
      return exact ? test::exact_config(45, m) : test::float_config(45, m);
    };
    const std::vector<float> small = hidden(config(101), samples),
                             large = hidden(config(250), samples);
    for (int b = 0; b < 6; ++b) {
      for (int m = 0; m < 101; ++m) {
        REQUIRE(test::close(small[std::size_t(b * 101 + m)], large[std::size_t(b * 250 + m)], 1e-5,
                            1e-4));
      }
    }
  }
}

TEST_CASE("projection: without one, h is f", "[engine][projection]") {
  const test::Samples samples = test::make_samples(2, 3, 45);
  CHECK(hidden(test::float_config(45, 0), samples) == samples.values);
}

TEST_CASE("projection: bipolar signs are the same in both arithmetics", "[engine][projection]") {
  // Unit vectors show the weights: f = e_l gives relu(W[l,m]).
  test::Samples unit;
  unit.width = 40;
  unit.values.assign(40 * 40, 0.0f);
  for (int l = 0; l < 40; ++l) unit.values[std::size_t(41 * l)] = 1.0f;
  unit.classes.resize(40);
  unit.labels.resize(40);
  LearnerConfig exact = test::exact_config(40, 128);
  exact.feature_scale = 64.0f;
  exact.hidden_mul = 1024;  // 64 * 1024 / 65536 = 1
  const std::vector<float> h = hidden(exact, unit);
  CHECK(h == hidden(test::float_config(40, 128, Weights::bipolar), unit));
  for (int l = 0; l < 40; ++l) {
    for (int m = 0; m < 128; ++m) {
      REQUIRE(h[std::size_t(128 * l + m)] == float(sign_word(1, l / 32, m) >> (l % 32) & 1u));
    }
  }
}

TEST_CASE("projection: the weights look like what they should be", "[engine][projection]") {
  // Fixed for ever: these words are part of every learned state.
  CHECK(sign_word(0, 0, 0) == 0x6627e8d5u);
  CHECK(sign_word(0, 0, 3) == 0x9b00dbd8u);
  constexpr int kCount = 20000;
  int ones = 0;
  double sum = 0, squares = 0, fourth = 0, product = 0;
  std::set<std::uint32_t> words;
  for (int m = 0; m < kCount; ++m) {
    const std::uint32_t word = sign_word(7, m % 40, m);
    words.insert(word);
    ones += __builtin_popcount(word);
    const double weight = gaussian_weight(7, m % 40, m);
    sum += weight;
    squares += weight * weight;
    fourth += std::pow(weight, 4);
    product += weight * gaussian_weight(7, m % 40, m + 1);
  }
  // Five standard errors each.
  CHECK(words.size() > kCount - 3);
  CHECK(std::abs(ones / (32.0 * kCount) - 0.5) < 5 * 0.5 / std::sqrt(32.0 * kCount));
  CHECK(std::abs(sum / kCount) < 5 / std::sqrt(kCount));
  CHECK(std::abs(squares / kCount - 1) < 5 * std::sqrt(2.0 / kCount));
  CHECK(std::abs(fourth / kCount - 3) < 5 * std::sqrt(96.0 / kCount));
  CHECK(std::abs(product / kCount) < 5 / std::sqrt(kCount));
  CHECK(gaussian_weight(7, 1, 2) != gaussian_weight(8, 1, 2));
}

}  // namespace engram
