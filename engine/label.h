// What may be the name of a class.
#pragma once

#include <string_view>

#include "platform/status.h"

namespace engram {

inline constexpr std::size_t kMaxLabelBytes = 255;

// 1..255 bytes of valid UTF-8 without control characters. Spaces and slashes are fine: a label is a
// name, never a path. invalid_argument: a sentence that says what is wrong with it.
Status check_label(std::string_view label);

}  // namespace engram
