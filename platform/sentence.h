// Messages made of sentences.
#pragma once

#include <string>
#include <string_view>

namespace engram {

// `text` with a full stop, unless it ends a sentence already: for a message that goes on behind it.
inline std::string sentence(std::string text) {
  const bool ends = !text.empty() && std::string_view(".!?\n").find(text.back()) != text.npos;
  if (!ends) text += '.';
  return text;
}

}  // namespace engram
