// An encoder of 32-bit floats rewritten in half precision, strongly typed: weights and activations
// are halves in the file itself, so that whoever runs it has nothing to choose (TensorRT from
// version 11 on has no other way).
//
// The input and the output stay float32; a Cast stands where a tensor changes its type. In half:
// convolutions, products of matrices, activations, sums of branches. Kept in float:
//   - reductions, powers, roots, exponentials, normalisations, global pooling, and the additions
//     and divisions between them: a squared value beyond 256 is beyond half's range (LayerNorm);
//   - an operation with a constant that half cannot hold: beyond 65504, or a single small number
//     that would become 0.
// What moves values only (Reshape, Transpose, ...) takes them as they are. Softmax is in half: its
// inputs and results are, so that float inside would change no bit here, and attention of one type
// can be fused.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "platform/status.h"

namespace engram {

struct HalfOnnx {
  std::string file;          // the bytes of the ONNX file
  int half_operations = 0;   // that compute in half
  int float_operations = 0;  // that compute in float
  int casts = 0;             // added
};

// `output`: as BackboneOptions::output. Everything that this tensor does not need is left out.
// bad_data: the file is damaged. not_supported: it cannot be converted (an operator that is not
// known here, a model that is in half, in double or quantised already); the reason is in the
// message, which begins with `name`.
Result<HalfOnnx> onnx_to_half(std::span<const std::byte> file, const std::string& name,
                              const std::string& output);

}  // namespace engram
