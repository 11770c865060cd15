// UTF-8 one code point at a time.
#pragma once

#include <cstdint>
#include <string_view>

namespace engram {

struct CodePoint {
  std::uint32_t value = 0;
  int bytes = 1;       // taken from the text; 1 for a byte that is not UTF-8
  bool valid = false;  // shortest form, no surrogate, at most U+10FFFF
};

CodePoint first_code_point(std::string_view text);  // text must not be empty

}  // namespace engram
