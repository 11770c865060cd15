// Features of made-up classes: each class is a few Gaussian spots, all values positive like a
// backbone's after ReLU. Small, seeded, the same everywhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/config.h"
#include "platform/matrix_view.h"

namespace engram::test {

struct Samples {
  int width = 0;
  std::vector<float> values;        // (count, width)
  std::vector<int> classes;         // (count)
  std::vector<std::string> labels;  // (count), "class 0" ...

  int count() const { return int(classes.size()); }
  MatrixView<const float> features() const { return {values.data(), count(), width, width}; }
  MatrixView<const float> features(int first, int rows) const {
    return features().row_range(first, rows);
  }
  std::span<const std::string> names(int first, int rows) const {
    return std::span(labels).subspan(std::size_t(first), std::size_t(rows));
  }
};

// Uniform in [0,1) by our own arithmetic: the standard's distributions differ between libraries.
inline double uniform(std::mt19937& random) {
  return double(random()) / 4294967296.0;
}
inline double normal(std::mt19937& random) {
  double sum = -6.0;
  for (int i = 0; i < 12; ++i) sum += uniform(random);
  return sum;
}

// `per_class` samples of each of `classes` classes, class by class. The spots depend on `seed`
// only, the samples on `draw` too: two draws are a training and a test set.
inline Samples make_samples(int classes, int per_class, int width, unsigned seed = 1,
                            unsigned draw = 1, double noise = 0.5) {
  std::mt19937 spots(seed), random(seed * 1000 + draw);
  Samples samples;
  samples.width = width;
  for (int k = 0; k < classes; ++k) {
    std::vector<double> spot(static_cast<std::size_t>(width));
    for (double& value : spot) value = normal(spots);
    for (int i = 0; i < per_class; ++i) {
      for (int l = 0; l < width; ++l) {
        const double value = spot[std::size_t(l)] + noise * normal(random);
        samples.values.push_back(float(std::max(0.0, value)));
      }
      samples.classes.push_back(k);
      samples.labels.push_back("class " + std::to_string(k));
    }
  }
  return samples;
}

inline Samples reordered(const Samples& samples, const std::vector<int>& order) {
  Samples result;
  result.width = samples.width;
  for (const int i : order) {
    const float* row = samples.features().row(i);
    result.values.insert(result.values.end(), row, row + samples.width);
    result.classes.push_back(samples.classes[std::size_t(i)]);
    result.labels.push_back(samples.labels[std::size_t(i)]);
  }
  return result;
}

// |a - b| within `relative` of the larger one, or within `absolute`.
inline bool close(double a, double b, double relative = 1e-9, double absolute = 0) {
  return std::abs(a - b) <= std::max(absolute, relative * std::max(std::abs(a), std::abs(b)));
}

inline LearnerConfig exact_config(int features, int hidden) {
  LearnerConfig config;
  config.backbone = "test";
  config.features = features;
  config.hidden = hidden;
  config.feature_scale = 32.0f;
  config.hidden_mul = 3000;
  return config;
}

inline LearnerConfig float_config(int features, int hidden, Weights weights = Weights::gaussian) {
  LearnerConfig config;
  config.backbone = "test";
  config.features = features;
  config.hidden = hidden;
  config.arithmetic = Arithmetic::floating;
  config.weights = weights;
  return config;
}

}  // namespace engram::test
