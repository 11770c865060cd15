// TensorRT as an EngineLibrary. In builds that found its headers (CMake: ENGRAM_TENSORRT).
#pragma once

#include "platform/engine_library.h"

namespace engram {

EngineLibrary& tensorrt_library();

}  // namespace engram
