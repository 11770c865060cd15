// What may be the name of a class.
#pragma once

#include <string_view>

#include "platform/status.h"

namespace engram {

inline constexpr std::size_t kMaxLabelBytes = 255;

// What a state may hold: 1..255 bytes of valid UTF-8 without control characters. Spaces and slashes are fine: a label is a
// name, never a path. invalid_argument: a sentence that says what is wrong with it.
Status check_label(std::string_view label);

// That, and no name that looks like another: not blank, no space at either end, no zero-width or
// bidirectional control character (but joiners within scripts and emoji that have them). For names that come in; what a state has already, it keeps.
Status check_new_label(std::string_view label);

}  // namespace engram
