// A linear probe trained jointly on everything: what the authors compare continual learning with.
//
//     s[b,k] = sigma (f[b] / |f[b]|) . (w[k] / |w[k]|)        cross entropy of softmax(s)
//
// The authors' settings: SGD with momentum 0.9, weight decay 5e-4 (of w and sigma), constant
// learning rate 0.01, batches of 128, 30 epochs; w uniform in +-1/sqrt(L), sigma 1 at the start.
// They train on augmented pictures; features have none, so this is the probe on plain features.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

struct ProbeSettings {
  int epochs = 30;
  int batch = 128;
  double learning_rate = 0.01;
  double momentum = 0.9;
  double weight_decay = 5e-4;
  std::uint32_t seed = 1;  // of the start and of the order of samples
};

class LinearProbe {
 public:
  // features (N, L), classes (N) in 0..class_count-1; N >= 1.
  static LinearProbe train(MatrixView<const float> features, std::span<const int> classes,
                           int class_count, const ProbeSettings& settings = {});
  // Cosines (B, K) of rows and class vectors.
  void score(MatrixView<const float> features, MatrixView<float> scores) const;
  float sigma() const { return sigma_; }

 private:
  int features_ = 0, classes_ = 0;
  std::vector<float> directions_;  // (K, L), unit rows
  float sigma_ = 1;
};

}  // namespace engram
