// Scores of a readout against their definition in double, beyond the size of a tile.
#include "engine/readout_scores.h"

#include <cmath>
#include <random>
#include <vector>

#include "kernels/kernels.h"
#include "tests/support/catch.h"
#include "tests/support/synthetic.h"
#include "tests/support/worst.h"

namespace engram {

TEST_CASE("readout scores: hidden units, features and bias, for any size", "[engine][readout]") {
  const int rows = GENERATE(1, 32, 70), classes = GENERATE(2, 128, 300);
  const bool with_features = GENERATE(true, false);
  const int units = 13, width = 7;
  std::mt19937 random(5);
  const auto draw = [&](int count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = float(test::normal(random));
    return values;
  };
  Readout readout;
  readout.classes.resize(std::size_t(classes));
  readout.hidden_units = units;
  const auto put = [](SharedVector<float>& to, const std::vector<float>& values) {
    to.assign(values.begin(), values.end());
  };
  put(readout.weights, draw(classes * units));
  readout.bias = draw(classes);
  if (with_features) put(readout.feature_weights, draw(classes * width));
  const std::vector<float> h = draw(rows * units), f = draw(rows * (width + 2));
  std::vector<float> scores(std::size_t(rows * classes), 99.0F);
  std::vector<float> tile(kScoreTileRows * kScoreTileClasses);
  REQUIRE(score_samples(kCpuKernels, readout, {h.data(), rows, units, units},
                        {f.data(), rows, width, width + 2}, tile.data(),
                        {scores.data(), rows, classes, classes})
              .ok());
  test::Worst worst;
  for (int b = 0; b < rows; ++b) {
    for (int k = 0; k < classes; ++k) {
      double wanted = readout.bias[std::size_t(k)];
      for (int m = 0; m < units; ++m) {
        wanted +=
            double(h[std::size_t(b * units + m)]) * readout.weights[std::size_t(k * units + m)];
      }
      for (int l = 0; l < width && with_features; ++l) {
        wanted += double(f[std::size_t(b * (width + 2) + l)]) *
                  readout.feature_weights[std::size_t(k * width + l)];
      }
      worst.see(std::abs(wanted - scores[std::size_t(b * classes + k)]));
    }
  }
  CHECK(worst.value() < 1e-4);
}

}  // namespace engram
