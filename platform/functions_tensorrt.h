// TensorRT's four functions, found at run time; all else is virtual calls behind them. The library of
// the major version that the headers are of, and no other.
#pragma once

#include <string>

#include "platform/status.h"

namespace engram {

struct TensorRtFunctions {
  void* (*create_builder)(void* logger, int version) noexcept = nullptr;
  void* (*create_runtime)(void* logger, int version) noexcept = nullptr;
  int (*library_version)() noexcept = nullptr;
  void* (*create_parser)(void* network, void* logger, int version) noexcept = nullptr;
};

// not_supported: not installed, or of another major version.
Result<TensorRtFunctions> load_tensorrt(const std::string& library, const std::string& parser);
Result<TensorRtFunctions> load_tensorrt();  // libnvinfer.so.<major>, libnvonnxparser.so.<major>

}  // namespace engram
