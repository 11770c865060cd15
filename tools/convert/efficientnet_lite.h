// EfficientNet-Lite0 to Lite4 as ONNX, from the weights of a PyTorch checkpoint.
//
// The family (Tan, Le and the TensorFlow team, 2020): EfficientNet's inverted bottlenecks with
// ReLU6 and without squeeze-and-excitation; stem (32) and head (1280) keep their width, first and
// last stage their depth.
//
//     image (N,3,S,S) > stem 3x3/2 > 7 stages of [1x1 expand, kxk depthwise, 1x1 project, + skip]
//                     > 1x1 head > mean over the picture = features (N,1280) > linear = logits (N,1000)
//
//     lite   0    1    2    3    4
//     width  1.0  1.0  1.1  1.2  1.4
//     depth  1.0  1.1  1.2  1.4  1.8
//     S      224  240  260  280  300
//
// Numerics. Batch normalisations (eps 1e-3) are folded into the convolutions in double and rounded
// once; the same checkpoint gives the same bytes on every machine, so that the file's hash names
// the backbone. Padding is TensorFlow's "same": the odd pixel goes right and below.
//
// Checkpoints come in two ways of naming (efficientnet_lite_names.h), which give the same bytes. One
// in timm's names is taken for a tf_efficientnet_lite: Google's weights, with that padding and eps.
// (timm's efficientnet_lite0 without tf_ has the same names but was trained otherwise, with padding
// on all sides and eps 1e-5: its features would be slightly off.) timm prepares pictures in another
// way than Google did: (p - 127.5) / 127.5, at most 0.008 off; 300 and 380 pixels for lite3 and lite4,
// and bilinear for these two. Here all have Google's sizes and numbers, and bicubic.
#pragma once

#include <string>

#include "kernels/preprocess.h"
#include "platform/status.h"
#include "tools/convert/checkpoint.h"

namespace engram {

inline constexpr int kLiteVariants = 5;
inline constexpr int kLiteFeatureCount = 1280;
inline constexpr const char* kLiteFeatures = "features";
inline constexpr const char* kLiteLogits = "logits";

int lite_size(int variant);  // S
// Resize and crop as the family was evaluated: the crop is S of a picture whose shorter side is
// S + 32 (TensorFlow cuts S / (S + 32) of the shorter side and then scales, which is the same), and
// (p - 127) / 128.
PreprocessSpec lite_preprocess(int variant);

// bad_data: its names are unknown, a weight is missing, has another shape or is not finite; the message names it.
Result<std::string> efficientnet_lite_onnx(int variant, const Checkpoint& checkpoint,
                                           const std::string& checkpoint_name);

}  // namespace engram
