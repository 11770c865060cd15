// A Vision Transformer of ours written as ONNX, with what Phase 1 learned.
//
// (N, 3, image, image) -> (N, L), N open, output "features". Layer norm and GELU are written in the
// plain operations of opset 13, which OpenVINO, TensorRT and onnxruntime all take and join again.
//
//   ssf           is folded into the weights: the file is that of a plain Vision Transformer, costs
//                 what that costs, and read_vit reads it again
//   adaptformer   two linear layers beside each MLP, the scale of the branch in the second
//   vpt           prompts joined to the tokens before each block and cut off behind it
//
// The head is not written. Dropout is of training alone.
#pragma once

#include <string>

#include "engine/adapt_parameters.h"
#include "engine/vit_model.h"

namespace engram {

inline constexpr const char* kVitInput = "image";
inline constexpr const char* kVitFeatures = "features";

// The file's bytes. `adapted`: null for the plain model; must belong to the model's shape.
std::string vit_onnx(const VitModel& model, const AdaptParameters* adapted);

// The plain model that computes what `model` computes with these scales and shifts:
//     s (w x + b) + t = (s w) x + (s b + t)   of rows of a linear layer, and the same of norms.
VitModel fold_ssf(const VitModel& model, const AdaptParameters& ssf);

}  // namespace engram
