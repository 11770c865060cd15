// Small Vision Transformers as ONNX, written as different exporters write them.
#pragma once

#include <string>

#include "engine/vit_model.h"

namespace engram::test {

// Every choice has the form that comes first in the list of the newest PyTorch exporter.
struct VitStyle {
  enum class Linear { matmul, bias_first, gemm } linear = Linear::matmul;
  enum class Norm { operation, pieces, rsqrt } norm = Norm::operation;
  enum class Curve { operation, half_last, half_first } curve = Curve::operation;
  enum class Qkv { gather, split, slice, apart, by_head } qkv = Qkv::gather;
  enum class Scale { on_both, on_q, on_product, other } scale = Scale::on_both;
  enum class Batch { open, fixed, tokens_first } batch = Batch::open;
  enum class Positions { after_join, before_join, folded } positions = Positions::after_join;
  enum class Token { gather, slice, before_norm } token = Token::gather;
  bool identities = false;  // Identity and Dropout between
  // Not plain any more:
  bool mean = false;            // over tokens instead of the class token
  bool bias_on_scores = false;  // a relative position bias
  bool second_convolution = false;
  bool norm_after = false;  // the norm behind the sum
  bool gated = false;       // an MLP with a gate
};

std::string styled_vit(const VitModel& model, const VitStyle& style);

}  // namespace engram::test
