// What the program's exit code means (after sysexits.h; listed in README.md and in --help).
#pragma once

#include "platform/status.h"

namespace engram {

inline constexpr int kExitSomeSkipped = 3;  // done, but some inputs were skipped and reported
inline constexpr int kExitSlower = 4;       // bench: slower than it was, or a mark missed

// 0 ok, 64 usage, 65 bad data, 66 not found, 69 not supported, 70 internal, 71 memory or device,
// 74 disk, 75 busy: try again.
int exit_code(Code code);

}  // namespace engram
