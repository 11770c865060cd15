#include "engine/nearest_name.h"

#include <algorithm>
#include <vector>

namespace engram {
namespace {

std::size_t levenshtein(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t up = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = up;
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(const std::string& word, std::span<const std::string> names) {
  std::string nearest;
  std::size_t least = 3;  // more than two slips of the finger is another word
  for (const std::string& name : names) {
    const std::size_t slips = levenshtein(word, name);
    if (slips < least && 2 * slips < name.size()) {
      least = slips;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace engram
