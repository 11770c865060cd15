#include "tools/pictures/tree.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "platform/image.h"
#include "platform/sentence.h"
#include "tools/console/terminal.h"

namespace engram {
namespace {

namespace fs = std::filesystem;

Status cannot_be_a_label(const std::string& folder, const Status& why) {
  return Status(why.code(), fmt::format("{}: its name cannot be a label, so its pictures were left "
                                        "out. {} Rename the folder.",
                                        printable(folder), sentence(why.what())));
}

Status cannot_be_searched(const Status& why) {
  return Status(why.code(), sentence(why.what()) +
                                " Its pictures were left out: make it readable, or leave it away.");
}

// What lies on the first level of a tree.
struct FirstLevel {
  std::vector<fs::path> folders;  // sorted
  std::vector<fs::path> dangling;
  int stray = 0;  // pictures
};

Result<FirstLevel> list_first_level(const std::string& directory) {
  FirstLevel level;
  std::error_code error;
  fs::directory_iterator entry(directory, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    std::error_code unknown;
    if (path.filename().string().starts_with('.')) continue;  // hidden, as by other tools
    if (entry->is_directory(unknown)) {
      level.folders.push_back(path);
    } else if (ends_like_a_picture(path.string())) {
      ++level.stray;
    } else if (entry->status(unknown).type() == fs::file_type::not_found) {
      level.dangling.push_back(path);
    }
  }
  if (error) {
    return Status(Code::io_failure, fmt::format("{}: cannot be listed ({}). Nothing was changed.",
                                                printable(directory), error.message()));
  }
  std::sort(level.folders.begin(), level.folders.end());
  std::sort(level.dangling.begin(), level.dangling.end());
  return level;
}

// The pictures of one label; what gives none is skipped.
void add_folder(const fs::path& folder, Tree& tree) {
  const std::string path = folder.string(), label = folder.filename().string();
  if (const Status status = check_new_label(label); !status.ok()) {
    tree.skipped.push_back({path, cannot_be_a_label(path, status)});
    return;
  }
  Result<PictureFolder> found = search_pictures(path);
  if (!found.ok()) {
    tree.skipped.push_back({path, cannot_be_searched(found.status())});
    return;
  }
  if (found->pictures.empty() && found->left_out.empty()) {
    tree.skipped.push_back(
        {path, Status(Code::not_found,
                      fmt::format("{}: holds no picture (.jpg, .png); no such class was made.",
                                  printable(path)))});
  }
  for (std::string& picture : found->pictures) tree.items.push_back({std::move(picture), label});
  std::move(found->left_out.begin(), found->left_out.end(), std::back_inserter(tree.skipped));
}

// Why nothing is left, if it is not merely that there are no pictures.
Status reason_for_nothing(const std::vector<SkippedPicture>& skipped, Status otherwise) {
  for (const SkippedPicture& one : skipped) {
    if (one.why.code() == Code::not_found) continue;
    return Status(one.why.code(), sentence(one.why.what()) + " Nothing was changed.");
  }
  return otherwise;
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
  ENGRAM_ASSIGN(const FirstLevel level, list_first_level(directory));
  Tree tree;
  for (const fs::path& folder : level.folders) add_folder(folder, tree);
  for (const fs::path& link : level.dangling) {
    tree.skipped.push_back(
        {link.string(), Status(Code::not_found, fmt::format("{}: is a link that leads nowhere",
                                                            printable(link.string())))});
  }
  if (const int stray = level.stray; stray > 0) {
    tree.skipped.push_back(
        {directory,
         Status(Code::not_found,
                fmt::format("{}: {} picture{} beside the folders {} no label and {} left out.",
                            printable(directory), stray, stray == 1 ? "" : "s",
                            stray == 1 ? "has" : "have", stray == 1 ? "was" : "were"))});
  }
  if (tree.items.empty()) {
    return reason_for_nothing(
        tree.skipped,
        Status(Code::not_found,
               fmt::format("{}: no picture in any folder below it. Nothing was changed. Expected "
                           "{}/<label>/*.jpg or *.png.",
                           printable(directory), printable(directory))));
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

Result<Inputs> expand_inputs(const std::vector<std::string>& paths) {
  Inputs inputs;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      inputs.files.push_back(path);
      continue;
    }
    Result<PictureFolder> below = search_pictures(path);
    if (!below.ok()) {
      inputs.skipped.push_back({path, cannot_be_searched(below.status())});
      continue;
    }
    if (below->pictures.empty() && below->left_out.empty()) {
      inputs.skipped.push_back(
          {path, Status(Code::not_found, fmt::format("{}: no picture (.jpg, .png) in this folder.",
                                                     printable(path)))});
    }
    std::move(below->pictures.begin(), below->pictures.end(), std::back_inserter(inputs.files));
    std::move(below->left_out.begin(), below->left_out.end(), std::back_inserter(inputs.skipped));
  }
  if (inputs.files.empty() && !inputs.skipped.empty()) {
    const Status& first = inputs.skipped.front().why;
    return reason_for_nothing(
        inputs.skipped, Status(first.code(), sentence(first.what()) + " Nothing was changed."));
  }
  return inputs;
}

}  // namespace engram
