// What the reading and the writing half of the model store share; private to model_store*.cpp.
#pragma once

#include <sys/stat.h>

#include <string>

#include "platform/status.h"

namespace engram {

inline bool entry_exists(const std::string& path) {
  struct stat found;
  return ::lstat(path.c_str(), &found) == 0;
}

Status bad_model_name(const std::string& name);

}  // namespace engram
