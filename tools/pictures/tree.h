// From what the user names to pictures: a folder tree whose first level is the labels, or files and
// folders in a list.
#pragma once

#include <string>
#include <vector>

#include "platform/picture_folder.h"
#include "platform/status.h"
#include "tools/pictures/label_file.h"

namespace engram {

struct Tree {
  std::vector<LabelledPath> items;      // sorted by label, then path
  std::vector<SkippedPicture> skipped;  // folders and pictures that give none, each with a sentence
  std::vector<std::string> labels() const;  // each once, sorted
  std::vector<std::string> paths() const;   // of the items, in order
};

// DIR/mug/1.jpg and DIR/mug/red/2.jpg are both "mug". Skipped: folders that are empty, cannot be
// listed, or whose name cannot be a label; pictures beside the folders; what search_pictures() leaves
// out. Fails only if nothing is left: not_found, or why the first was skipped.
Result<Tree> read_tree(const std::string& directory);

// The tree in `directory`, or what the file `label_file` lists; exactly one of them must be named.
Result<Tree> read_labelled(const std::string& directory, const std::string& label_file);

struct Inputs {
  std::vector<std::string> files;
  std::vector<SkippedPicture> skipped;  // folders that give none, and what they leave out
};

// Files as they are, folders as the pictures below them. Does not ask whether a file exists: that
// is found, and reported, when it is read. Fails only if nothing is left.
Result<Inputs> expand_inputs(const std::vector<std::string>& paths);

}  // namespace engram
