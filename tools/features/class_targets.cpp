#include "tools/features/class_targets.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "tools/console/terminal.h"
#include "tools/features/npz.h"

namespace engram {
namespace {

constexpr std::int64_t kMostTargetColumns = 1 << 16;

// Row of a class, or -1.
std::int64_t row_of(const std::string& name, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return found - names.begin();
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  return whole && number >= 0 && number < std::ssize(names) ? number : -1;
}

}  // namespace

Result<ClassTargets> read_class_targets(const std::string& path,
                                        const std::vector<std::string>& classes) {
  ENGRAM_ASSIGN(const NpzFile file, NpzFile::open(path));
  ENGRAM_ASSIGN(const NpzArray embeddings, file.read("embeddings"));
  ENGRAM_ASSIGN(const NpzArray labels, file.read("names"));
  ENGRAM_ASSIGN(const std::vector<std::string> names, labels.view.texts());
  const auto refuse = [&](const std::string& what) {
    return Status(Code::bad_data, fmt::format("{}: {}.", printable(path), what));
  };
  const std::vector<std::int64_t>& shape = embeddings.view.shape();
  if (shape.size() != 2 || shape[1] < 1 || shape[1] > kMostTargetColumns ||
      shape[0] != std::ssize(names)) {
    return refuse(
        fmt::format("the embeddings have the shape {}; one row is needed for each of the {} names",
                    embeddings.view.shape_text(), names.size()));
  }
  ENGRAM_ASSIGN(const std::vector<float> values, embeddings.view.floats());
  ClassTargets targets{{}, int(shape[1])};
  for (const std::string& name : classes) {
    const std::int64_t index = row_of(name, names);
    if (index < 0) return refuse(fmt::format("the class \"{}\" has no target", printable(name)));
    const auto row = values.begin() + index * shape[1];
    if (std::all_of(row, row + shape[1], [](float value) { return value == 0; })) {
      return refuse(fmt::format("the target of the class \"{}\" is all zero", printable(name)));
    }
    targets.values.insert(targets.values.end(), row, row + shape[1]);
  }
  return targets;
}

}  // namespace engram
