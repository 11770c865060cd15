// An engine that TensorRT runs, as platform/backbone_tensorrt.h wants it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "platform/backbone_tensorrt.h"
#include "platform/engine_library.h"
#include "platform/functions_tensorrt.h"
#include "platform/status.h"

namespace engram {

// The GPU's context must be current. device_failure: TensorRT does not take these bytes.
Result<std::unique_ptr<DeviceNetwork>> open_tensorrt(const TensorRtFunctions& functions,
                                                     std::span<const std::byte> engine,
                                                     const EngineRequest& request);

}  // namespace engram
