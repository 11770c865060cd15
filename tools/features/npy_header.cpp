#include "tools/features/npy_header.h"

#include <charconv>

namespace engram {
namespace {

constexpr std::size_t kMostDimensions = 8;

// A cursor over the literal; every step says whether it found what it wanted.
class Literal {
 public:
  explicit Literal(std::string_view text) : rest_(text) {}

  bool take(std::string_view word) {
    skip_spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool take_text(std::string& value) {
    skip_spaces();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return false;
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return false;
    value = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return true;
  }
  bool take_truth(bool& value) {
    if (take("True")) return value = true;
    value = false;
    return take("False");
  }
  bool take_shape(std::vector<std::int64_t>& shape) {
    if (!take("(")) return false;
    while (!take(")")) {
      std::int64_t length = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), length);
      if (error != std::errc() || length < 0 || shape.size() == kMostDimensions) return false;
      shape.push_back(length);
      rest_.remove_prefix(std::size_t(end - rest_.data()));
      if (!take(",") && !next_is(')')) return false;
      skip_spaces();
    }
    return true;
  }
  bool at_end() {
    skip_spaces();
    return rest_.empty();
  }

 private:
  bool next_is(char letter) {
    skip_spaces();
    return !rest_.empty() && rest_[0] == letter;
  }
  void skip_spaces() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }

  std::string_view rest_;
};

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view text) {
  const Status broken(Code::bad_data, "its header is damaged");
  Literal literal(text);
  NpyHeader header;
  bool has_type = false, has_order = false, has_shape = false;
  if (!literal.take("{")) return broken;
  while (!literal.take("}")) {
    std::string key;
    if (!literal.take_text(key) || !literal.take(":")) return broken;
    if (key == "descr" && !has_type) {
      if (literal.take("[")) {
        return Status(Code::bad_data, "it holds records; save plain numbers or text instead");
      }
      if (!literal.take_text(header.type)) return broken;
      has_type = true;
    } else if (key == "fortran_order" && !has_order) {
      if (!literal.take_truth(header.fortran_order)) return broken;
      has_order = true;
    } else if (key == "shape" && !has_shape) {
      if (!literal.take_shape(header.shape)) return broken;
      has_shape = true;
    } else {
      return broken;
    }
    literal.take(",");
  }
  if (!has_type || !has_order || !has_shape || !literal.at_end()) return broken;
  return header;
}

}  // namespace engram
