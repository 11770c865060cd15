// From a place in the program to a line of a kernel: by addr2line, only when there is a finding.
#include <cstdio>
#include <map>

#include <dlfcn.h>

#include "tests/support/simt_checker.h"

namespace engram::test {
namespace {

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string look_up(const void* code) {
  Dl_info info{};
  if (dladdr(code, &info) == 0) return "?";
  // The address is where the call returns to: one before it is in the call.
  const auto offset = static_cast<const char*>(code) - static_cast<const char*>(info.dli_fbase) - 1;
  char command[1024];
  std::snprintf(command, sizeof command, "addr2line -i -e '%s' %#lx 2>/dev/null", info.dli_fname,
                static_cast<unsigned long>(offset));
  FILE* output = popen(command, "r");
  if (output == nullptr) return "?";
  std::string found = "?";
  char text[1024];
  while (std::fgets(text, sizeof text, output) != nullptr) {  // innermost first
    const std::string line = std::string(text).substr(0, std::string(text).find_first_of(" \n"));
    found = file_name(line);
    const bool ours = line.find("platform/simt") == std::string::npos &&
                      line.find("matrix_view.h") == std::string::npos &&
                      line.find("/c++/") == std::string::npos;
    if (ours) break;
  }
  pclose(output);
  return found;
}

}  // namespace

std::string source_line(const void* code) {
  static std::map<const void*, std::string> known;
  const auto [at, is_new] = known.try_emplace(code);
  if (is_new) at->second = look_up(code);
  return at->second;
}

}  // namespace engram::test
