// ONNX to engine. Strongly typed: precisions are those of the file (onnx_half.h).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "platform/engine_library.h"
#include "platform/functions_tensorrt.h"
#include "platform/status.h"

namespace engram {

// A batch that the model leaves open may be 1 to request.batch, at its best with 1: the frame that a
// camera shows now. Products in float are not rounded to TF32.
Result<std::vector<std::byte>> build_tensorrt(const TensorRtFunctions& functions,
                                              std::span<const std::byte> onnx,
                                              const EngineRequest& request,
                                              const EngineProgress& progress);

}  // namespace engram
