// Made-up photos as features, and a learner of them: for the benchmarks of whole learners.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/config.h"
#include "tools/bench/bench_problem.h"
#include "tools/bench/bench_settings.h"

namespace engram::bench {

inline constexpr int kInputs = 768;  // L

inline LearnerConfig config_of(const Settings& settings, bool keep) {
  LearnerConfig config;
  config.features = kInputs;
  config.hidden = settings.hidden;
  config.feature_scale = 30;  // hidden units spread over 0..31
  config.hidden_mul = 650;
  config.keep_features = keep;
  config.lambda_rule = LambdaRule::fixed;
  config.lambda = 1e6;
  return config;
}

// Features of `classes` classes around their centres.
struct Photos {
  explicit Photos(const Settings& settings) : x(settings.samples, kInputs) {
    Matrix<float> centres(settings.classes, kInputs,
                          [this] { return 0.01F * float(random.between(-150, 150)); });
    for (int i = 0; i < settings.samples; ++i) {
      const int label = i % settings.classes;
      for (int l = 0; l < kInputs; ++l) {
        x.view()(i, l) = centres.view()(label, l) + 0.01F * float(random.between(-150, 150));
      }
      classes.push_back(label);
      labels.push_back("class " + std::to_string(label));
    }
  }
  Random random;
  Matrix<float> x;
  std::vector<std::int32_t> classes;
  std::vector<std::string> labels;
};

}  // namespace engram::bench
