// A Vision Transformer and its adaptations in double, word by word as in engine/vit_model.h and
// engine/adapt_parameters.h: what the engine's floats are compared with.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/adapt_parameters.h"
#include "engine/vit_model.h"

namespace engram::test {

using Doubles = std::vector<double>;

// What an element of a bottleneck is multiplied with: 0 where it is dropped.
using KeepMask = std::function<double(int block, int picture, int token, int channel)>;

class VitReference {
 public:
  // parameters null: the model as it is.
  VitReference(const VitModel& model, const AdaptParameters* parameters, KeepMask mask = {})
      : model_(model), parameters_(parameters), mask_(std::move(mask)) {
    if (parameters != nullptr) values.assign(parameters->values.begin(), parameters->values.end());
  }

  // The parameters, in their layout, to be changed at will.
  Doubles values;

  Doubles features(const float* picture, int number = 0) const;  // (L), of one picture
  // Mean over pictures of the cross entropy of sigma cos(features, head.weight).
  double loss(const std::vector<float>& pictures, const std::vector<int>& labels) const;

 private:
  struct Slice {
    const double* data = nullptr;
    int rows = 0, cols = 0;
    explicit operator bool() const { return data != nullptr; }
  };
  Slice slice(const std::string& name) const;
  void scale_shift(const std::string& name, Doubles& y) const;
  void block(int index, int picture, Doubles& x, int tokens) const;
  Doubles attention(const Doubles& qkv, int tokens) const;

  const VitModel& model_;
  const AdaptParameters* parameters_;
  KeepMask mask_;
};

}  // namespace engram::test
