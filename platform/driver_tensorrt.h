// The few calls of NVIDIA's driver that a backbone needs, found at run time in libcuda.so.1: one
// program runs with and without a GPU, whatever its CUDA version. A table of functions, so that
// tests can be the driver.
//
// TensorRT must not be touched before find_gpu() has succeeded: without a GPU its runtime gives
// pointers that crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "platform/device_code.h"
#include "platform/status.h"

namespace engram {

using DeviceAddress = std::uint64_t;  // CUdeviceptr

struct CudaDriver {
  int (*init)(unsigned flags) = nullptr;
  int (*driver_version)(int* version) = nullptr;
  int (*device_count)(int* count) = nullptr;
  int (*device_get)(int* device, int ordinal) = nullptr;
  int (*device_name)(char* name, int bytes, int device) = nullptr;
  int (*device_attribute)(int* value, int attribute, int device) = nullptr;
  int (*context_retain)(void** context, int device) = nullptr;  // the one that TensorRT uses too
  int (*context_release)(int device) = nullptr;
  int (*context_set)(void* context) = nullptr;
  int (*stream_create)(void** stream, unsigned flags) = nullptr;
  int (*stream_destroy)(void* stream) = nullptr;
  int (*stream_synchronize)(void* stream) = nullptr;
  int (*device_allocate)(DeviceAddress* address, std::size_t bytes) = nullptr;
  int (*device_free)(DeviceAddress address) = nullptr;
  int (*host_allocate)(void** memory, std::size_t bytes, unsigned flags) = nullptr;
  int (*host_free)(void* memory) = nullptr;
  int (*host_address)(DeviceAddress* address, void* memory, unsigned flags) = nullptr;
  // What is known of an address; fails where it is not CUDA's.
  int (*pointer_attribute)(void* value, int attribute, DeviceAddress address) = nullptr;
  int (*upload)(DeviceAddress to, const void* from, std::size_t bytes, void* stream) = nullptr;
  int (*download)(void* to, DeviceAddress from, std::size_t bytes, void* stream) = nullptr;
  // Work recorded on a stream as a graph, made ready, and repeated.
  int (*capture_begin)(void* stream, int mode) = nullptr;
  int (*capture_end)(void* stream, void** graph) = nullptr;
  int (*graph_instantiate)(void** work, void* graph, unsigned long long flags) = nullptr;
  int (*graph_launch)(void* work, void* stream) = nullptr;
  int (*graph_destroy)(void* graph) = nullptr;
  int (*graph_exec_destroy)(void* work) = nullptr;
  int (*error_name)(int error, const char** name) = nullptr;

  // device_failure, out_of_memory: "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY".
  Status check(int result, const char* call) const;
};

// not_supported: no driver on this machine, or one that lacks a call.
Result<CudaDriver> load_cuda_driver(const char* library = "libcuda.so.1");

struct Gpu {
  int device = 0;
  std::string name;            // "Orin, compute 8.7"
  bool shares_memory = false;  // with the CPU, as on every Jetson: nothing needs to be copied
  int driver = 0;              // the CUDA version that the driver knows: 12060
  int multiprocessors = 0;
};
// The GPU that the learner takes: the first that there is `code` for (device_code.h); if there is none
// such, the first. not_supported: no GPU, or a driver older than CUDA 12.
Result<Gpu> find_gpu(const CudaDriver& driver, const char* code = compiled_device_code());

}  // namespace engram
