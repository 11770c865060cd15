// From what the user names to pictures: a folder tree whose first level is the labels, or files and
// folders in a list.
#pragma once

#include <string>
#include <vector>

#include "platform/status.h"
#include "tools/label_file.h"

namespace engram {

struct Tree {
  std::vector<LabelledPath> items;  // sorted by label, then path
  std::vector<std::string> notes;   // one sentence each: folders without pictures, stray pictures
  std::vector<std::string> labels() const;  // each once, sorted
  std::vector<std::string> paths() const;   // of the items, in order
};

// DIR/mug/1.jpg and DIR/mug/red/2.jpg are both "mug". not_found: no such folder, or no picture in
// any folder below it. invalid_argument: a folder's name cannot be a label.
Result<Tree> read_tree(const std::string& directory);

// The tree in `directory`, or what the file `label_file` lists; exactly one of them must be named.
Result<Tree> read_labelled(const std::string& directory, const std::string& label_file);

// Files as they are, folders as the pictures below them. Does not ask whether a file exists: that
// is found, and reported, when it is read.
Result<std::vector<std::string>> expand_inputs(const std::vector<std::string>& paths);

}  // namespace engram
