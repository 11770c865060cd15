#include "platform/engine_library.h"

#ifdef ENGRAM_TENSORRT
#include "platform/library_tensorrt.h"
#endif

namespace engram {

const char* name(Precision value) {
  return value == Precision::half ? "half" : "float";
}

EngineLibrary* engine_library() {
#ifdef ENGRAM_TENSORRT
  return &tensorrt_library();
#else
  return nullptr;
#endif
}

}  // namespace engram
