// Which GPUs this program has code for. A GPU without it is found out before anything is begun, not
// by its first kernel.
#pragma once

#include <string>

#include "platform/status.h"

namespace engram {

// What nvcc compiled for, as CMake lists it: "87-real,86,89-real". A number alone is code for that
// GPU and PTX, -real the code only, -virtual PTX only. Empty: no kernel was compiled.
const char* compiled_device_code();

// not_supported: nothing in `code` runs on a GPU of this compute capability.
Status device_has_code(const std::string& name, int major, int minor, const std::string& code);

}  // namespace engram
