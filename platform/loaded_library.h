// Why a library did not load: it may be missing itself, or be there and lack something or a permission.
#pragma once

#include <string>

#include <dlfcn.h>

namespace engram {

// What the loader says of the last dlopen, which failed: "libx.so.1: cannot open shared object file: ...".
// Call at once; `library` where it says nothing.
inline std::string why_not_loaded(const std::string& library) {
  const char* const said = ::dlerror();
  return said == nullptr ? library + " is not there" : said;
}

}  // namespace engram
