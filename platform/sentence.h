// Messages made of sentences.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace engram {

// `text` with a full stop, unless it ends a sentence already: for a message that goes on behind it.
inline std::string sentence(std::string text) {
  const bool ends = !text.empty() && std::string_view(".!?\n").find(text.back()) != text.npos;
  if (!ends) text += '.';
  return text;
}

// The first sentence of `text`, without its full stop: for a message that says something else behind it.
inline std::string first_sentence(std::string text) {
  text.resize(std::min(text.find(". "), text.size()));
  if (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

}  // namespace engram
