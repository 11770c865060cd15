#include "platform/device.h"

#include <fmt/format.h>

namespace engram {

std::string cuda_version(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Status device_absence(int driver, int runtime, int devices, const char* trouble) {
  constexpr const char* kWay = "Engram works on the CPU without it: --backend cpu.";
  if (driver == 0) {
    return Status(
        Code::not_supported,
        fmt::format("There is no NVIDIA driver on this machine, so no GPU to compute on. {}",
                    kWay));
  }
  // Within a major version CUDA promises that an older driver serves a newer runtime.
  if (driver / 1000 < runtime / 1000) {
    return Status(
        Code::not_supported,
        fmt::format("The NVIDIA driver is too old: it serves CUDA {}, and this engram was built "
                    "with CUDA {}. Update the driver (on a Jetson: JetPack). {}",
                    cuda_version(driver), cuda_version(runtime), kWay));
  }
  if (trouble != nullptr) {
    return Status(Code::device_failure,
                  fmt::format("The GPU does not answer ({}). Another program may hold it, or it "
                              "may need a restart. {}",
                              trouble, kWay));
  }
  if (devices == 0) {
    return Status(Code::not_supported,
                  fmt::format("There is an NVIDIA driver on this machine, but no GPU that it can "
                              "use. {}",
                              kWay));
  }
  return Status();
}

Status device_too_old(const std::string& name, int major, int minor) {
  if (major > 8 || (major == 8 && minor >= 6)) return Status();
  return Status(Code::not_supported,
                fmt::format("The GPU {} (compute capability {}.{}) is older than what engram has "
                            "kernels for (8.6). Engram works on the CPU without it: --backend cpu.",
                            name, major, minor));
}

Status device_memory_refused(std::size_t wanted, std::size_t free) {
  return Status(Code::out_of_memory,
                fmt::format("The GPU has {} MiB free, and {} MiB more were asked for. Nothing was "
                            "changed; choose fewer hidden units, close other programs, or compute "
                            "on the CPU: --backend cpu.",
                            free >> 20, wanted >> 20));
}

Status device_out_of_memory(const char* call) {
  return Status(
      Code::out_of_memory,
      fmt::format("{}: the GPU has no memory left. What was saved before is intact; close "
                  "other programs or choose fewer hidden units and run the command "
                  "again, or compute on the CPU: --backend cpu.",
                  call));
}

Status device_failed(const char* call, const char* reason) {
  return Status(Code::device_failure,
                fmt::format("{}: {}. The GPU stopped in the middle of its work. What was saved "
                            "before is intact; run the command again, or with --backend cpu.",
                            call, reason));
}

}  // namespace engram
