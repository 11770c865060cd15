// Which picture shows what: files that list labels.
//
// A label file has one line per picture, "path<TAB>label", in UTF-8. It is read strictly: one tab
// per line, neither side empty, no empty line but at the end, no path twice; a line may end in CR LF,
// and the file may begin with a byte order mark. A path that is not absolute starts at the folder of
// the label file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/label.h"
#include "platform/status.h"

namespace engram {

struct LabelledPath {
  std::string path;
  std::string label;
  bool operator==(const LabelledPath&) const = default;
};

inline constexpr std::size_t kMaxLabelFileBytes = 64 << 20;
inline constexpr std::size_t kMaxPathBytes = 4096;

Result<std::vector<LabelledPath>> read_label_file(const std::string& path);
// The same on text in memory; `name` is the file as the user knows it.
Result<std::vector<LabelledPath>> parse_label_file(std::string_view text, const std::string& name);

}  // namespace engram
