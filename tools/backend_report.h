// Where the program computes: the option --backend, and how it is told.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "platform/device.h"
#include "platform/status.h"
#include "tools/console/console.h"

namespace engram {

// "auto": found when first something is computed. "cuda": now, or a failure that says why not.
Status choose_backend(const std::string& name);

// From now on a warning says, once it is known, that the CPU computes although there is a GPU, or that
// the GPU was lost. `console` must stay.
void warn_of_gpu_trouble(const Console& console);

std::string device_text(const DeviceInfo& device);  // "Orin (sm_87, 8 multiprocessors), CUDA 12.6"
std::string backend_text();                         // "the CPU", "cuda: Orin ..."
// {"name": "cpu", "why": ...} or {"name": "cuda", "device": {...}}
nlohmann::ordered_json backend_json();
nlohmann::ordered_json device_json(const DeviceInfo& device);

}  // namespace engram
