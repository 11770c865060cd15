// A model on its way into the store; private to add_model.cpp, builtin_candidate.cpp and
// pooled_onnx.cpp.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "engine/model_card.h"
#include "platform/status.h"
#include "tools/convert/add_model.h"
#include "tools/convert/scratch_folder.h"

namespace engram {

struct Candidate {
  std::string path;  // of the ONNX file
  ModelCard card;
};

Result<Candidate> make_builtin(const BuiltinModel& model, const AddModelRequest& request,
                               const ScratchFolder& folder, const AddModelProgress& progress);

inline constexpr const char* kPooledOutput = "engram_features";
// The path of a file like `onnx` whose tensor is pooled into kPooledOutput. `rank` is that of the
// tensor, as far as it can be known beforehand.
Result<std::string> with_pooling(std::span<const std::byte> onnx, const std::string& tensor,
                                 Pooling pool, std::size_t rank, const ScratchFolder& folder);

}  // namespace engram
