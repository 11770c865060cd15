// The classes of a learner: their names in the order first seen, and how many samples each had.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "platform/status.h"

namespace engram {

struct ClassInfo {
  std::string label;
  std::int64_t samples = 0;
  bool operator==(const ClassInfo&) const = default;
};

// Rows that class sums take for so many classes: they grow by doubling.
inline std::int64_t class_rows(int classes) {
  return std::int64_t(std::bit_ceil(unsigned(std::max(classes, 8))));
}

std::vector<std::string> labels_of(std::span<const ClassInfo> classes);
std::vector<std::int64_t> counts_of(std::span<const ClassInfo> classes);  // samples of each

class ClassList {
 public:
  int find(const std::string& label) const;  // -1: not known
  // How many of `labels` are not known, each counted once. May throw bad_alloc.
  int count_new(std::span<const std::string> labels) const;
  // Adds those: all of them, or after out_of_memory none.
  Status add(std::span<const std::string> labels);
  // Another name, which no class has.
  void rename(int index, const std::string& label);
  // Classes without samples disappear, the others keep their order. Where each class is now, -1: gone.
  std::vector<std::int32_t> drop_empty();
  void count(int index, std::int64_t more) { all_[std::size_t(index)].samples += more; }

  int size() const { return int(all_.size()); }
  const std::vector<ClassInfo>& all() const { return all_; }

 private:
  std::vector<ClassInfo> all_;
  std::unordered_map<std::string, int> index_;
};

}  // namespace engram
