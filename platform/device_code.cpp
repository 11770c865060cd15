#include "platform/device_code.h"

#include <cctype>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

#include "platform/device.h"

#ifndef ENGRAM_CUDA_CODE  // toolchains/kernels.cmake
#define ENGRAM_CUDA_CODE ""
#endif

namespace engram {
namespace {

// Those of a Jetson run their own code only; among cards, what was made for an older one of the same
// generation runs on the newer (CUDA C++ Programming Guide, "Binary Compatibility").
bool is_of_jetson(int major, int minor) {
  return (major == 8 && minor == 7) || (major == 11 && minor == 0);
}

bool runs(const std::string& compiled, int major, int minor) {
  if (compiled.empty() || std::isdigit(static_cast<unsigned char>(compiled[0])) == 0) {
    return true;  // "native", "all": of whom it is not known
  }
  const int number = std::atoi(compiled.c_str()), for_major = number / 10, for_minor = number % 10;
  if (for_major == major && for_minor == minor && !compiled.ends_with("-virtual")) return true;
  const bool is_older = for_major < major || (for_major == major && for_minor <= minor);
  if (!compiled.ends_with("-real")) return is_older;  // the driver compiles PTX
  return for_major == major && is_older && !is_of_jetson(major, minor) &&
         !is_of_jetson(for_major, for_minor);
}

}  // namespace

const char* compiled_device_code() {
  return ENGRAM_CUDA_CODE;
}

Status device_has_code(const std::string& name, int major, int minor, const std::string& code) {
  ENGRAM_TRY(device_too_old(name, major, minor));
  std::istringstream list(code);
  std::string known;
  for (std::string one; std::getline(list, one, ',');) {
    if (runs(one, major, minor)) return Status();
    const int number = std::atoi(one.c_str());
    known += fmt::format("{}{}.{}", known.empty() ? "" : ", ", number / 10, number % 10);
  }
  return Status(
      Code::not_supported,
      fmt::format("This engram has no code for the GPU {} (compute capability {}.{}), only for {}. "
                  "Take the package for this device, or build engram on it. Engram works on the "
                  "CPU without it: --backend cpu.",
                  name, major, minor, known.empty() ? "the CPU" : known));
}

}  // namespace engram
