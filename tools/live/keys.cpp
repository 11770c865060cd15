#include "tools/live/keys.h"

#include "tools/console/utf8.h"

namespace engram {
namespace {

constexpr char kEscape = '\x1b';
constexpr std::size_t kLongestSequence = 32;

// Bytes of an arrow or function key that begins `text` with ESC [ or ESC O; 0: not all there yet.
std::size_t sequence_bytes(std::string_view text) {
  if (text[1] == 'O') return text.size() >= 3 ? 3 : 0;
  for (std::size_t i = 2; i < text.size(); ++i) {
    if (text[i] >= '@' && text[i] <= '~') return i + 1;
    if (i >= kLongestSequence) return i;
  }
  return 0;
}

// How many bytes the letter has that begins with this one.
std::size_t letter_bytes(unsigned char first) {
  if (first >= 0xF0) return 4;
  if (first >= 0xE0) return 3;
  return first >= 0xC0 ? 2 : 1;
}

}  // namespace

std::vector<Key> KeyReader::read(std::string_view bytes) {
  waiting_ += bytes;
  std::vector<Key> keys;
  std::string_view rest = waiting_;
  while (!rest.empty()) {
    const char first = rest[0];
    std::size_t taken = 1;
    if (first == kEscape) {
      if (rest.size() == 1) break;
      if (rest[1] == '[' || rest[1] == 'O') {
        taken = sequence_bytes(rest);
        if (taken == 0) break;
      } else {
        keys.push_back({Key::Kind::escape});
      }
    } else if (first == '\r' || first == '\n') {
      keys.push_back({Key::Kind::enter});
    } else if (first == '\x7f' || first == '\b') {
      keys.push_back({Key::Kind::backspace});
    } else if (static_cast<unsigned char>(first) >= 0x20) {
      const CodePoint point = first_code_point(rest);
      if (!point.valid && rest.size() < letter_bytes(static_cast<unsigned char>(first))) break;
      taken = std::size_t(point.bytes);
      const bool control = point.value < 0xA0 && point.value >= 0x7F;
      if (point.valid && !control)
        keys.push_back({Key::Kind::text, std::string(rest.substr(0, taken))});
    }
    rest.remove_prefix(taken);
  }
  waiting_ = std::string(rest);
  return keys;
}

std::vector<Key> KeyReader::pause() {
  const bool was_escape = waiting_ == std::string(1, kEscape);
  waiting_.clear();
  return was_escape ? std::vector<Key>{{Key::Kind::escape}} : std::vector<Key>{};
}

}  // namespace engram
