#include "engine/class_list.h"

#include <algorithm>
#include <new>
#include <unordered_set>

namespace engram {

std::vector<std::string> labels_of(std::span<const ClassInfo> classes) {
  std::vector<std::string> labels;
  for (const ClassInfo& info : classes) labels.push_back(info.label);
  return labels;
}

std::vector<std::int64_t> counts_of(std::span<const ClassInfo> classes) {
  std::vector<std::int64_t> counts;
  for (const ClassInfo& info : classes) counts.push_back(info.samples);
  return counts;
}

int ClassList::find(const std::string& label) const {
  const auto found = index_.find(label);
  return found == index_.end() ? -1 : found->second;
}

int ClassList::count_new(std::span<const std::string> labels) const {
  std::unordered_set<std::string> added;
  for (const std::string& label : labels) {
    if (find(label) < 0) added.insert(label);
  }
  return int(added.size());
}

Status ClassList::add(std::span<const std::string> labels) {
  try {
    // All that can fail happens on the side.
    std::vector<ClassInfo> infos;
    std::unordered_map<std::string, int> indices;
    for (const std::string& label : labels) {
      if (find(label) >= 0 || indices.contains(label)) continue;
      infos.push_back({label, 0});
      indices.emplace(label, size() + int(infos.size()) - 1);
    }
    if (infos.empty()) return {};
    const std::size_t wanted = all_.size() + infos.size();
    if (wanted > all_.capacity()) all_.reserve(std::max(wanted, 2 * all_.capacity()));
    index_.reserve(wanted);
    // Room is there, and nodes move from map to map: nothing below allocates.
    for (ClassInfo& info : infos) all_.push_back(std::move(info));
    index_.merge(indices);
    return {};
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory,
                  "The machine has no memory left for another class. Nothing was changed; close "
                  "other programs and learn it again.");
  }
}

void ClassList::rename(int index, const std::string& label) {
  ENGRAM_CHECK(find(label) < 0);
  auto node = index_.extract(all_[std::size_t(index)].label);
  node.key() = label;
  index_.insert(std::move(node));
  all_[std::size_t(index)].label = label;
}

std::vector<std::int32_t> ClassList::drop_empty() {
  std::vector<std::int32_t> new_index;
  std::int32_t kept = 0;
  for (const ClassInfo& info : all_) new_index.push_back(info.samples > 0 ? kept++ : -1);
  for (std::size_t k = 0; k < all_.size(); ++k) {
    if (new_index[k] < 0) {
      index_.erase(all_[k].label);
    } else {
      index_.at(all_[k].label) = new_index[k];
    }
  }
  std::erase_if(all_, [](const ClassInfo& info) { return info.samples == 0; });
  return new_index;
}

}  // namespace engram
