#include "platform/driver_tensorrt.h"

#include <dlfcn.h>

#include <array>
#include <utility>

#include <fmt/format.h>

#include "platform/loaded_library.h"

namespace engram {

namespace {

// cuda.h's numbers.
constexpr int kOutOfMemory = 2, kNoDevice = 100;
constexpr int kComputeMajor = 75, kComputeMinor = 76, kIntegrated = 18, kMultiprocessors = 16;
constexpr int kOldestDriver = 12000;  // of CUDA 12.0

template <class Function>
bool find(void* library, const char* symbol, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, symbol));
  return function != nullptr;
}

struct SeenGpu {
  Gpu gpu;
  int major = 0, minor = 0;
};

Result<SeenGpu> look_at(const CudaDriver& driver, int ordinal) {
  SeenGpu seen;
  Gpu& gpu = seen.gpu;
  ENGRAM_TRY(driver.check(driver.device_get(&gpu.device, ordinal), "cuDeviceGet"));
  std::array<char, 256> name{};
  ENGRAM_TRY(driver.check(driver.device_name(name.data(), int(name.size()) - 1, gpu.device),
                          "cuDeviceGetName"));
  int integrated = 0;
  const auto ask = [&](int& value, int attribute) {
    return driver.check(driver.device_attribute(&value, attribute, gpu.device),
                        "cuDeviceGetAttribute");
  };
  ENGRAM_TRY(ask(seen.major, kComputeMajor));
  ENGRAM_TRY(ask(seen.minor, kComputeMinor));
  ENGRAM_TRY(ask(integrated, kIntegrated));
  ENGRAM_TRY(ask(gpu.multiprocessors, kMultiprocessors));
  gpu.name = fmt::format("{}, compute {}.{}", name.data(), seen.major, seen.minor);
  gpu.shares_memory = integrated != 0;
  return seen;
}

bool has_code(const SeenGpu& seen, const char* code) {
  return device_has_code(seen.gpu.name, seen.major, seen.minor, code).ok();
}

}  // namespace

Status CudaDriver::check(int result, const char* call) const {
  if (result == 0) return {};
  const char* name = nullptr;
  if (error_name == nullptr || error_name(result, &name) != 0 || name == nullptr) name = "error";
  return Status(result == kOutOfMemory ? Code::out_of_memory : Code::device_failure,
                fmt::format("{} failed: {} ({})", call, name, result));
}

Result<CudaDriver> load_cuda_driver(const char* library) {
  void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);  // never closed: it has threads
  if (handle == nullptr) {
    return Status(
        Code::not_supported,
        fmt::format("there is no NVIDIA driver on this machine, or it cannot be loaded ({})",
                    why_not_loaded(library)));
  }
  CudaDriver driver;
  const bool complete = find(handle, "cuInit", driver.init) &&
                        find(handle, "cuDriverGetVersion", driver.driver_version) &&
                        find(handle, "cuDeviceGetCount", driver.device_count) &&
                        find(handle, "cuDeviceGet", driver.device_get) &&
                        find(handle, "cuDeviceGetName", driver.device_name) &&
                        find(handle, "cuDeviceGetAttribute", driver.device_attribute) &&
                        find(handle, "cuDevicePrimaryCtxRetain", driver.context_retain) &&
                        find(handle, "cuDevicePrimaryCtxRelease_v2", driver.context_release) &&
                        find(handle, "cuCtxSetCurrent", driver.context_set) &&
                        find(handle, "cuStreamCreate", driver.stream_create) &&
                        find(handle, "cuStreamDestroy_v2", driver.stream_destroy) &&
                        find(handle, "cuStreamSynchronize", driver.stream_synchronize) &&
                        find(handle, "cuMemAlloc_v2", driver.device_allocate) &&
                        find(handle, "cuMemFree_v2", driver.device_free) &&
                        find(handle, "cuMemHostAlloc", driver.host_allocate) &&
                        find(handle, "cuMemFreeHost", driver.host_free) &&
                        find(handle, "cuMemHostGetDevicePointer_v2", driver.host_address) &&
                        find(handle, "cuPointerGetAttribute", driver.pointer_attribute) &&
                        find(handle, "cuMemcpyHtoDAsync_v2", driver.upload) &&
                        find(handle, "cuMemcpyDtoHAsync_v2", driver.download) &&
                        find(handle, "cuStreamBeginCapture_v2", driver.capture_begin) &&
                        find(handle, "cuStreamEndCapture", driver.capture_end) &&
                        find(handle, "cuGraphInstantiateWithFlags", driver.graph_instantiate) &&
                        find(handle, "cuGraphLaunch", driver.graph_launch) &&
                        find(handle, "cuGraphDestroy", driver.graph_destroy) &&
                        find(handle, "cuGraphExecDestroy", driver.graph_exec_destroy) &&
                        find(handle, "cuGetErrorName", driver.error_name);
  if (!complete) {
    return Status(Code::not_supported,
                  fmt::format("{} is not a driver of CUDA 12 or newer", library));
  }
  return driver;
}

Result<Gpu> find_gpu(const CudaDriver& driver, const char* code) {
  const auto unusable = [](const std::string& why) { return Status(Code::not_supported, why); };
  const int started = driver.init(0);
  if (started == kNoDevice) return unusable("there is no NVIDIA GPU in this machine");
  if (const Status done = driver.check(started, "cuInit"); !done.ok()) {
    return unusable(fmt::format("the NVIDIA driver does not work: {}", done.what()));
  }
  int version = 0;
  ENGRAM_TRY(driver.check(driver.driver_version(&version), "cuDriverGetVersion"));
  if (version < kOldestDriver) {
    return unusable(
        fmt::format("the NVIDIA driver is too old: it knows CUDA {}.{}, and 12.0 is "
                    "needed. Install a newer driver (on a Jetson: JetPack 6 or newer)",
                    version / 1000, version % 1000 / 10));
  }
  int count = 0;
  ENGRAM_TRY(driver.check(driver.device_count(&count), "cuDeviceGetCount"));
  if (count < 1) return unusable("there is no NVIDIA GPU in this machine");
  ENGRAM_ASSIGN(SeenGpu chosen, look_at(driver, 0));
  for (int i = 1; i < count && !has_code(chosen, code); ++i) {
    ENGRAM_ASSIGN(SeenGpu other, look_at(driver, i));
    if (has_code(other, code)) chosen = std::move(other);
  }
  chosen.gpu.driver = version;
  return chosen.gpu;
}

}  // namespace engram
