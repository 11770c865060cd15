// Pictures below a folder, and what looks like a picture but cannot be one of them.
#pragma once

#include <string>
#include <vector>

#include "platform/status.h"

namespace engram {

// Something the user named, or that lay where he pointed, which was not used.
struct SkippedPicture {
  std::string path;
  Status why;  // a sentence that begins with the path
};

struct PictureFolder {
  std::vector<std::string> pictures;     // sorted
  std::vector<SkippedPicture> left_out;  // never silently: who asked has to tell
};

// Paths below `directory` that end like a picture (ends_like_a_picture()). Links are followed, to
// files and to folders, but each folder is looked into once, and none above `directory`. Names that
// start with a dot are no part of it. Left out: links that lead nowhere, what is no file, folders
// that cannot be listed, and pictures of kinds that are not read (.webp, .heic, ...), the latter
// counted in one sentence. Other files are passed over. Fails where `directory` itself does.
Result<PictureFolder> search_pictures(const std::string& directory);

}  // namespace engram
