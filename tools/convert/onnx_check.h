// A first look at a stranger's ONNX file, before any library sees it.
//
// Walks the protobuf with bounds on everything and refuses: what is not ONNX, weights in other
// files ("external data": a path that the file chose), tensors whose shape and data disagree,
// graphs nested or large beyond reason. What passes is well-formed enough to be tried in a child
// process (model_trial.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "platform/status.h"

namespace engram {

struct OnnxTensorInfo {
  std::string name;
  std::vector<std::int64_t> shape;  // -1: left open; empty: not told (or a scalar)
};

struct OnnxSummary {
  std::int64_t opset = 0;              // of the standard operators
  std::int64_t nodes = 0;              // with those of subgraphs and functions
  std::vector<OnnxTensorInfo> inputs;  // without weights, which old files list here too
  std::vector<OnnxTensorInfo> outputs;
};

inline constexpr std::size_t kMaxOnnx = std::size_t{1} << 31;  // protobuf's own limit, 2 GiB

// Messages start with `name`; all refusals are bad_data.
Result<OnnxSummary> check_onnx(std::span<const std::byte> bytes, const std::string& name);

}  // namespace engram
