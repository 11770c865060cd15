// PyTorch checkpoints (state dicts) without PyTorch.
//
// Both forms: the one before version 1.6 (five pickles, then the storages one after another) and
// the ZIP of today (data.pkl, data/0, data/1...). A checkpoint is a dict of names to tensors, or
// has one under "state_dict" or "model"; what is not a tensor is passed over. Read with pickle.h:
// nothing in the file is ever run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "platform/status.h"

namespace engram {

struct CheckpointTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;  // row-major, whatever strides and type the file had
};
using Checkpoint = std::map<std::string, CheckpointTensor>;

inline constexpr std::int64_t kMaxCheckpointValues = 256'000'000;  // floats in all: 1 GB

// Messages start with `name`. bad_data: broken, hostile, or no tensors in it.
Result<Checkpoint> parse_checkpoint(std::span<const std::byte> bytes, const std::string& name);

}  // namespace engram
