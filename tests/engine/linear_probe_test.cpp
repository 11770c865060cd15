#include "engine/linear_probe.h"

#include <algorithm>
#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/synthetic.h"

namespace engram {

TEST_CASE("linear probe: learns what can be told apart, the same every time", "[engine][probe]") {
  const test::Samples train = test::make_samples(5, 40, 30, 1, 1, 0.8);
  const test::Samples held = test::make_samples(5, 20, 30, 1, 2, 0.8);
  const LinearProbe probe = LinearProbe::train(train.features(), train.classes, 5);
  std::vector<float> scores(std::size_t(held.count()) * 5), again(scores.size());
  probe.score(held.features(), {scores.data(), held.count(), 5, 5});
  int right = 0;
  for (int i = 0; i < held.count(); ++i) {
    const float* row = scores.data() + 5 * i;
    right += int(std::max_element(row, row + 5) - row) == held.classes[std::size_t(i)];
    for (int k = 0; k < 5; ++k) CHECK(std::abs(row[k]) <= 1.0001f);  // cosines
  }
  CHECK(right > 0.9 * held.count());
  CHECK(probe.sigma() > 1);
  LinearProbe::train(train.features(), train.classes, 5)
      .score(held.features(), {again.data(), held.count(), 5, 5});
  CHECK(scores == again);
}

TEST_CASE("linear probe: one step is one step of SGD", "[engine][probe]") {
  // Two samples, one batch, one epoch, no momentum yet: w - rate (gradient + decay w), by finite
  // differences of the loss.
  const std::vector<float> x{3, 4, 0, 1, 0, 2};
  const std::vector<int> y{0, 1};
  ProbeSettings none, one;
  none.epochs = 0;
  one.epochs = 1;
  one.learning_rate = 0.5;
  const MatrixView<const float> features{x.data(), 2, 3, 3};
  const float unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  // Directions of the class vectors, read off by scoring the unit vectors.
  const auto directions = [&](const ProbeSettings& settings) {
    std::vector<float> d(6);
    LinearProbe::train(features, y, 2, settings).score({unit, 3, 3, 3}, {d.data(), 3, 2, 2});
    return d;
  };
  const std::vector<float> start = directions(none), end = directions(one);
  const auto loss = [&](const std::vector<double>& d) {  // d[l * 2 + k], of any length
    double sum = 0;
    for (int b = 0; b < 2; ++b) {
      double s[2] = {};
      for (int k = 0; k < 2; ++k) {
        double dot = 0, xx = 0, dd = 0;
        for (int l = 0; l < 3; ++l) {
          dot += x[std::size_t(3 * b + l)] * d[std::size_t(2 * l + k)];
          xx += x[std::size_t(3 * b + l)] * x[std::size_t(3 * b + l)];
          dd += d[std::size_t(2 * l + k)] * d[std::size_t(2 * l + k)];
        }
        s[k] = dot / std::sqrt(xx * dd);
      }
      sum += std::log(std::exp(s[0]) + std::exp(s[1])) - s[y[std::size_t(b)]];
    }
    return sum / 2;
  };
  // The step goes downhill: against the gradient at unit length, up to the vector's own length.
  std::vector<double> at(start.begin(), start.end());
  for (int k = 0; k < 2; ++k) {
    double along = 0, step = 0, slope = 0;
    for (int l = 0; l < 3; ++l) {
      const auto i = std::size_t(2 * l + k);
      std::vector<double> up = at, down = at;
      up[i] += 1e-5;
      down[i] -= 1e-5;
      const double gradient = (loss(up) - loss(down)) / 2e-5;
      const double moved = double(end[i]) - start[i];
      along += gradient * moved;
      step += moved * moved;
      slope += gradient * gradient;
    }
    CHECK(along < -0.99 * std::sqrt(step * slope) * 0.99);
  }
}

}  // namespace engram
