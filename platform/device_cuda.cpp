// The GPU as CUDA describes it.
#include "platform/device.h"
#include "platform/device_context_cuda.h"
#include "platform/device_memory.h"

namespace engram::cuda {

bool has_driver() {
  int driver = 0;
  (void)cudaDriverGetVersion(&driver);  // 0 where there is none
  return driver != 0;
}

Result<DeviceInfo> find_device() {
  ENGRAM_ASSIGN(const int device, choose_device());
  cudaDeviceProp properties{};
  ENGRAM_CUDA_TRY(cudaGetDeviceProperties, &properties, device);
  DeviceInfo info;
  info.name = properties.name;
  info.major = properties.major;
  info.minor = properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  info.is_integrated = properties.integrated != 0;
  info.shares_while_running = properties.concurrentManagedAccess != 0;
  ENGRAM_CUDA_TRY(cudaDriverGetVersion, &info.driver);
  ENGRAM_CUDA_TRY(cudaRuntimeGetVersion, &info.runtime);
  info.memory_bus_bits = properties.memoryBusWidth;
  info.cache_bytes = properties.l2CacheSize;
  int kilohertz = 0;
  ENGRAM_CUDA_TRY(cudaDeviceGetAttribute, &kilohertz, cudaDevAttrClockRate, device);
  info.clock = 1e3 * kilohertz;
  ENGRAM_CUDA_TRY(cudaDeviceGetAttribute, &kilohertz, cudaDevAttrMemoryClockRate, device);
  info.memory_clock = 1e3 * kilohertz;
  // Opens the device: a machine whose GPU cannot be used says so here, not in the middle of work.
  ENGRAM_TRY(context().status());
  std::size_t free = 0, all = 0;
  ENGRAM_CUDA_TRY(cudaMemGetInfo, &free, &all);
  info.memory_bytes = static_cast<std::int64_t>(all);
  info.free_bytes = static_cast<std::int64_t>(kMemory.free_bytes());  // as a learner asks
  return info;
}

}  // namespace engram::cuda
