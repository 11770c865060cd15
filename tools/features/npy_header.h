// The head of a .npy file: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/status.h"

namespace engram {

struct NpyHeader {
  std::string type;  // as written: "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Strict: these three keys, each once, in any order, as numpy writes them. The message is the rest
// of a sentence that begins with the name of the file.
Result<NpyHeader> parse_npy_header(std::string_view text);

}  // namespace engram
