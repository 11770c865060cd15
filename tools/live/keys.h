// What a terminal sends, as keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace engram {

struct Key {
  enum class Kind { text, enter, escape, backspace };
  Kind kind = Kind::text;
  std::string text = {};  // of kind text: one code point, no control character
  bool operator==(const Key&) const = default;
};

// Bytes may come cut anywhere. Arrows and function keys, and bytes that are not UTF-8, are nothing.
class KeyReader {
 public:
  std::vector<Key> read(std::string_view bytes);
  // Nothing came for a while: an escape that waits for more was the key itself.
  std::vector<Key> pause();

 private:
  std::string waiting_;  // the beginning of a key
};

}  // namespace engram
