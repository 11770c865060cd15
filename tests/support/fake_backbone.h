// A backbone that gives the same features for every picture, and fails when told to.
#pragma once

#include <algorithm>

#include "platform/backbone.h"

namespace engram::test {

class FakeBackbone final : public Backbone {
 public:
  FakeBackbone(int input_values, int features, float value)
      : input_values_(input_values), features_(features), value_(value) {}
  int input_values() const override { return input_values_; }
  int features() const override { return features_; }
  int max_batch() const override { return 4; }
  Status run(MatrixView<const float> inputs, MatrixView<float> features) override {
    if (runs_left-- == 0) return Status(Code::device_failure, "the GPU was lost");
    for (int row = 0; row < inputs.rows; ++row) {
      std::fill_n(features.row(row), features_, value_);
    }
    return {};
  }

  int runs_left = -1;  // then one fails; negative: never

 private:
  int input_values_, features_;
  float value_;
};

}  // namespace engram::test
