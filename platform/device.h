// Which device computes: what it is, and in plain words why there is none.
//
// The sentences are made here, without CUDA, from what its calls return: so they are the same on
// every machine, and a test can bring each of them about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "platform/status.h"

namespace engram {

struct DeviceInfo {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t free_bytes = 0;         // that DeviceMemory::allocate could still give
  bool is_integrated = false;          // shares the memory of the CPU, as on a Jetson
  bool shares_while_running = false;   // CPU and GPU may touch managed memory at the same time
  int driver = 0, runtime = 0;         // CUDA versions: 13020 is 13.2
  double clock = 0, memory_clock = 0;  // Hz, the highest; 0: not reported
  int memory_bus_bits = 0;
  std::int64_t cache_bytes = 0;  // L2
};

// The device that is used: the first that this program has code for.
//   not_supported    no driver, one that is too old, no device, or a device without code for it
//   device_failure   a device is there and does not answer
using FindDevice = Result<DeviceInfo>();

// Whether there is a driver on this machine, of any age: then somebody wants a GPU to compute.
using HasDriver = bool();

namespace cuda {
FindDevice find_device;  // device_cuda.cpp
HasDriver has_driver;    // device_cuda.cpp
}  // namespace cuda
namespace simt {
FindDevice find_device;  // device_simt.cpp
HasDriver has_driver;    // device_simt.cpp
}  // namespace simt

// What the first calls said. Versions as CUDA counts them, driver 0: there is none. `trouble` is
// the text of the failed call, or null.
Status device_absence(int driver, int runtime, int devices, const char* trouble);
// The oldest compute capability that the kernels are compiled for: 8.6, Ampere.
Status device_too_old(const std::string& name, int major, int minor);
Status device_memory_refused(std::size_t wanted, std::size_t free);
// A call of a library found no memory: the device is well, and goes on once there is some.
Status device_out_of_memory(const char* call);
// A call failed in the middle of work: `call` is its name, `reason` what the library says.
Status device_failed(const char* call, const char* reason);

std::string cuda_version(int version);  // 13020 -> "13.2"

}  // namespace engram
