#include "tools/pictures/label_file.h"

#include <filesystem>
#include <unordered_map>

#include <fmt/format.h>

#include "platform/file.h"
#include "platform/sentence.h"
#include "tools/console/terminal.h"

namespace engram {
namespace {

Status refuse(const std::string& name, std::size_t line, const std::string& why) {
  return Status(Code::bad_data,
                fmt::format("{}:{}: {}. Nothing was changed. A line is: path, one tab, label.",
                            printable(name), line, why));
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

Result<std::vector<LabelledPath>> parse_label_file(std::string_view text, const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(name).parent_path();
  std::vector<LabelledPath> items;
  std::unordered_map<std::string, std::size_t> first_seen;  // path -> line
  // Editors of other systems begin a file with a byte order mark; it would become part of a path.
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (is_blank(line) && is_blank(text)) break;  // nothing but blank lines is left

    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
      return refuse(name, number, line.empty() ? "the line is empty" : "the line holds no tab");
    }
    const std::string_view path = line.substr(0, tab);
    const std::string_view label = line.substr(tab + 1);
    if (path.empty()) return refuse(name, number, "the path is empty");
    if (path.size() > kMaxPathBytes) return refuse(name, number, "the path is too long");
    if (path.find('\0') != std::string_view::npos) {
      return refuse(name, number, "the path holds a zero byte");
    }
    if (label.find('\t') != std::string_view::npos) {
      return refuse(name, number, "the line holds more than one tab");
    }
    if (const Status status = check_new_label(label); !status.ok()) {
      return Status(Code::bad_data, fmt::format("{}:{}: {} Nothing was changed.", printable(name),
                                                number, sentence(status.what())));
    }
    std::string full = (folder / fs::path(path)).string();
    const auto [seen, is_new] = first_seen.emplace(full, number);
    if (!is_new) {
      return refuse(name, number, fmt::format("the path stands already in line {}", seen->second));
    }
    items.push_back({std::move(full), std::string(label)});
  }
  if (items.empty()) return Status(Code::bad_data, printable(name) + ": the label file is empty.");
  return items;
}

Result<std::vector<LabelledPath>> read_label_file(const std::string& path) {
  ENGRAM_ASSIGN(const std::vector<std::byte> bytes, read_file(path, kMaxLabelFileBytes));
  return parse_label_file({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

}  // namespace engram
