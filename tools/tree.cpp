#include "tools/tree.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "platform/image.h"
#include "tools/terminal.h"

namespace engram {
namespace {

namespace fs = std::filesystem;

bool is_picture_name(const fs::path& path) {
  std::string end = path.extension().string();
  std::transform(end.begin(), end.end(), end.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return end == ".jpg" || end == ".jpeg" || end == ".png";
}

}  // namespace

std::vector<std::string> Tree::labels() const {
  std::set<std::string> labels;
  for (const LabelledPath& item : items) labels.insert(item.label);
  return {labels.begin(), labels.end()};
}

std::vector<std::string> Tree::paths() const {
  std::vector<std::string> paths;
  for (const LabelledPath& item : items) paths.push_back(item.path);
  return paths;
}

Result<Tree> read_tree(const std::string& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    return Status(Code::not_found,
                  fmt::format("{}: no such folder. Nothing was changed. Expected a folder with one "
                              "folder of pictures per label.",
                              printable(directory)));
  }
  std::vector<fs::path> folders;
  int stray = 0;
  fs::directory_iterator entry(directory, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    std::error_code unknown;
    if (path.filename().string().starts_with('.')) continue;  // hidden, as by other tools
    if (entry->is_directory(unknown)) {
      folders.push_back(path);
    } else if (is_picture_name(path)) {
      ++stray;
    }
  }
  if (error) {
    return Status(Code::io_failure, fmt::format("{}: cannot be listed ({}). Nothing was changed.",
                                                printable(directory), error.message()));
  }
  std::sort(folders.begin(), folders.end());

  Tree tree;
  for (const fs::path& folder : folders) {
    const std::string label = folder.filename().string();
    ENGRAM_TRY(check_label(label));
    ENGRAM_ASSIGN(std::vector<std::string> paths, find_images(folder.string()));
    if (paths.empty()) {
      tree.notes.push_back(fmt::format("{}: holds no picture (.jpg, .png); no such class was made.",
                                       printable(folder.string())));
    }
    for (std::string& path : paths) tree.items.push_back({std::move(path), label});
  }
  if (stray > 0) {
    tree.notes.push_back(fmt::format(
        "{}: {} picture{} beside the folders {} no label and was left out.", printable(directory),
        stray, stray == 1 ? "" : "s", stray == 1 ? "has" : "have"));
  }
  if (tree.items.empty()) {
    return Status(
        Code::not_found,
        fmt::format("{}: no picture in any folder below it. Nothing was changed. Expected "
                    "{}/<label>/*.jpg or *.png.",
                    printable(directory), printable(directory)));
  }
  return tree;
}

Result<Tree> read_labelled(const std::string& directory, const std::string& label_file) {
  if (directory.empty() == label_file.empty()) {
    return Status(Code::invalid_argument,
                  "name the pictures by --tree DIR or by --labels FILE, one of the two");
  }
  if (!directory.empty()) return read_tree(directory);
  ENGRAM_ASSIGN(std::vector<LabelledPath> items, read_label_file(label_file));
  return Tree{std::move(items), {}};
}

Result<std::vector<std::string>> expand_inputs(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    ENGRAM_ASSIGN(const std::vector<std::string> below, find_images(path));
    if (below.empty()) {
      return Status(Code::not_found,
                    fmt::format("{}: no picture (.jpg, .png) in this folder. Nothing was changed.",
                                printable(path)));
    }
    files.insert(files.end(), below.begin(), below.end());
  }
  return files;
}

}  // namespace engram
