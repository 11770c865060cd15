// says(status, "words"): whether the sentence a person reads contains them.
#pragma once

#include <string>

#include "platform/status.h"

namespace engram::test {

inline bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}
inline bool says(const Status& status, const std::string& words) {
  return says(status.what(), words);
}

}  // namespace engram::test
