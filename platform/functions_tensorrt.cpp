#include "platform/functions_tensorrt.h"

#include <dlfcn.h>

#include <fmt/format.h>

#include <NvInferVersion.h>

#include "platform/loaded_library.h"

namespace engram {

namespace {

template <class Function>
bool find(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, symbol));
  return function != nullptr;
}

}  // namespace

Result<TensorRtFunctions> load_tensorrt(const std::string& library, const std::string& parser) {
  // Never closed: it has threads and objects of its own.
  void* const runtime = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (runtime == nullptr) {
    return Status(Code::not_supported,
                  fmt::format("TensorRT {} is not installed, or cannot be loaded ({})",
                              NV_TENSORRT_MAJOR, why_not_loaded(library)));
  }
  TensorRtFunctions functions;
  if (!find(runtime, "createInferRuntime_INTERNAL", functions.create_runtime) ||
      !find(runtime, "createInferBuilder_INTERNAL", functions.create_builder) ||
      !find(runtime, "getInferLibVersion", functions.library_version)) {
    return Status(Code::not_supported, fmt::format("{} is not TensorRT", library));
  }
  void* const reader = ::dlopen(parser.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (reader == nullptr) {
    return Status(Code::not_supported,
                  fmt::format("TensorRT's ONNX parser is not installed, or cannot be loaded ({})",
                              why_not_loaded(parser)));
  }
  if (!find(reader, "createNvOnnxParser_INTERNAL", functions.create_parser)) {
    return Status(Code::not_supported, fmt::format("{} is not TensorRT's ONNX parser", parser));
  }
  return functions;
}

Result<TensorRtFunctions> load_tensorrt() {
  ENGRAM_ASSIGN(const TensorRtFunctions functions,
                load_tensorrt(fmt::format("libnvinfer.so.{}", NV_TENSORRT_MAJOR),
                              fmt::format("libnvonnxparser.so.{}", NV_TENSORRT_MAJOR)));
  const int version = functions.library_version();
  if (version / 10000 != NV_TENSORRT_MAJOR) {
    return Status(Code::not_supported,
                  fmt::format("TensorRT {}.{} is installed; this program was built for {}",
                              version / 10000, version % 10000 / 100, NV_TENSORRT_MAJOR));
  }
  return functions;
}

}  // namespace engram
