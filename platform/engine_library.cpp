#include "platform/engine_library.h"

#ifdef ENGRAM_TENSORRT
#include "platform/library_tensorrt.h"
#endif

namespace engram {

const char* name(Precision value) {
  return value == Precision::half ? "half" : "float";
}

namespace {

bool& in_use() {
  static bool use = true;
  return use;
}

}  // namespace

void use_engine_library(bool use) {
  in_use() = use;
}

bool uses_engine_library() {
  return in_use();
}

EngineLibrary* engine_library() {
  if (!in_use()) return nullptr;
#ifdef ENGRAM_TENSORRT
  return &tensorrt_library();
#else
  return nullptr;
#endif
}

}  // namespace engram
