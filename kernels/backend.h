// Which backend a program computes with: chosen once, at start, before anything else is made.
//
//     ENGRAM_ASSIGN(const Backend backend, find_backend(BackendChoice::automatic));
//     use_backend(backend);
//
// From then on chosen_kernels() is its table, and arenas come from its memory. Nothing in engine/
// asks which it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/kernels.h"
#include "platform/device.h"

namespace engram {

struct DeviceMemory;

enum class BackendChoice : std::uint8_t {
  automatic,  // cuda where there is a usable GPU, else cpu
  cpu,
  cuda,  // or a failure that says why not
};
// "auto", "cpu" or "cuda".
Result<BackendChoice> parse_backend(const std::string& name);

struct Backend {
  const Kernels* kernels = &kCpuKernels;
  const DeviceMemory* memory = nullptr;  // null: the machine's
  std::optional<DeviceInfo> device;      // none: the CPU
  std::string why_cpu;                   // automatic found no GPU: why. Else empty
};

// not_supported: cuda was asked for and there is no driver, an old one, no GPU, or no code for one
// in this program. device_failure: there is a GPU and it does not answer.
Result<Backend> find_backend(BackendChoice choice);

void use_backend(const Backend& backend);
// The GPU is looked for when first something is computed, not before: opening one takes a while.
void use_any_backend();
Backend backend_in_use();

// After a failure of something that computes, `reason`. If it was that the device in use was lost, the
// CPU takes over, for what is made from now on: says why, now and whenever it is asked again, because
// others may hold the old table still. ok: no device was lost.
Status give_up_lost_device(const Status& reason);

}  // namespace engram
