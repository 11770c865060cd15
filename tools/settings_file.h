// A file of settings, one `key = value` a line, read strictly: what is not understood is named with
// file and line, never passed over.
//
//     # a comment is a line of its own
//     source = v4l2:///dev/video0
//
// Spaces around key and value do not count; everything else of a value does, "#" and quotes too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/status.h"

namespace engram {

struct Setting {
  std::string key, value;
  int line = 0;
};

// bad_data: "FILE:LINE: a sentence", for a line that is no setting, an empty value, a key that comes
// twice, a control character. `file` is only named.
Result<std::vector<Setting>> parse_settings(std::string_view text, const std::string& file);
// not_found, or bad_data as above, or for more than 64 KiB.
Result<std::vector<Setting>> read_settings(const std::string& file);

// bad_data: "FILE:LINE: what".
Status setting_error(const std::string& file, int line, const std::string& what);

// yes, true, on, 1 and no, false, off, 0 as "true" and "false"; empty: neither.
std::string truth_of(std::string_view value);

}  // namespace engram
