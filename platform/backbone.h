// A frozen network that turns input tensors into feature vectors. Others may supply one (OpenVINO
// on the CPU, TensorRT on the GPU), so it is an interface.
#pragma once

#include <memory>
#include <string>

#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

// Of a picture, at most: in the `exact` arithmetic 127 L must stay below 2^24 (sign_project.h).
inline constexpr int kMaxFeatures = 65536;

class Backbone {
 public:
  virtual ~Backbone() = default;
  virtual int input_values() const = 0;  // floats per picture: 3 * height * width
  virtual int features() const = 0;      // L
  virtual int max_batch() const = 0;     // pictures per call; larger requests are cut by run()
  // inputs (B, input_values) -> features (B, L). Any B >= 0.
  virtual Status run(MatrixView<const float> inputs, MatrixView<float> features) = 0;
};

struct BackboneOptions {
  std::string model;   // path of an ONNX file
  std::string output;  // tensor to take; empty: the only output
  int height = 224;
  int width = 224;
  int threads = 0;  // 0: one per core
  int batch = 16;   // pictures per inference at most; 1 for latency
  // Of a model in half precision (onnx_half.h): round every half as a GPU does, where the CPU would
  // go on in float. Slow; shows what half precision does to the features.
  bool round_halves = false;
};

// OpenVINO on the CPU. A file that it cannot read, a missing tensor, an input that is not one
// picture tensor (N,3,H,W) of floats: bad_data, with a sentence.
Result<std::unique_ptr<Backbone>> open_backbone_openvino(const BackboneOptions& options);

}  // namespace engram
