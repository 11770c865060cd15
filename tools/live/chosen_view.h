// Mirror and region as they were chosen last, kept beside what was learned: a learner that was taught on
// a part of the picture goes on looking at that part.
#pragma once

#include <string>

#include "platform/file.h"
#include "platform/status.h"
#include "tools/live/view.h"

namespace engram {

struct ChosenView {
  bool mirror = false;
  Region region;
  bool operator==(const ChosenView&) const = default;
};

// Of the state in `directory`. not_found: none was chosen. bad_data: the file is damaged.
Result<ChosenView> read_chosen_view(const std::string& directory);
// Durable when it returns.
Status keep_view(const std::string& directory, const ChosenView& view, FileSystem& files);

}  // namespace engram
