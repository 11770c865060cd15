// Which backend a program computes with: chosen once, at start, before anything else is made.
//
//     ENGRAM_ASSIGN(const Backend backend, find_backend(BackendChoice::automatic));
//     use_backend(backend);
//
// From then on chosen_kernels() is its table, and arenas come from its memory. What learns does not ask
// which it is.
#pragma once

#include <cstdint>
#include <functional>
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

enum class GpuTrouble : std::uint8_t {
  none,      // it computes; or there is none, or the CPU was asked for
  unusable,  // a driver or a GPU is there, but nothing can be computed with it
  lost,      // in the middle of work
};

struct Backend {
  const Kernels* kernels = &kCpuKernels;
  const DeviceMemory* memory = nullptr;  // null: the machine's
  std::optional<DeviceInfo> device;      // none: the CPU
  std::string why_cpu;                   // automatic found no GPU, or it was lost: why. Else empty
  GpuTrouble trouble = GpuTrouble::none;
};
// The CPU, because `why`: is there a driver all the same? Without one there is no trouble, that is the
// usual machine.
Backend cpu_because(const Status& why, bool has_driver);
// For people, one line: what is wrong, and that the CPU computes. Empty: no trouble.
std::string gpu_trouble_text(const Backend& backend);

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

// Whether the device was lost since this was made, so that the CPU can repeat what failed for `reason`. It
// may be made before a backend is looked for: what was lost before is not repeated.
class LostSince {
 public:
  LostSince() : was_lost_(!give_up_lost_device({}).ok()) {}
  bool operator()(const Status& reason) const {
    return !was_lost_ && !give_up_lost_device(reason).ok();
  }

 private:
  bool was_lost_;
};

// From now on `tell` hears of trouble with the GPU once it is known: when a backend is looked for and has
// it, and when the device is lost. It gets gpu_trouble_text, on the thread where that happens, and
// computes nothing. Empty: nobody is told.
void tell_gpu_trouble(std::function<void(const std::string& sentence)> tell);

}  // namespace engram
