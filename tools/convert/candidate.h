// A model on its way into the store; private to add_model.cpp, builtin_candidate.cpp,
// pooled_onnx.cpp and resized_candidate.cpp.
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

// The same network for pictures of `side` pixels. not_supported: it is no plain Vision Transformer.
// `file`: the model as the user knows it.
Status resize_candidate(Candidate& candidate, int side, const std::string& file,
                        const ScratchFolder& folder);

inline constexpr const char* kPooledOutput = "engram_features";
// The path of a file like `onnx` whose tensor is pooled into kPooledOutput. `rank` is that of the
// tensor, as far as it can be known beforehand.
Result<std::string> with_pooling(std::span<const std::byte> onnx, const std::string& tensor,
                                 Pooling pool, std::size_t rank, const ScratchFolder& folder);

}  // namespace engram
