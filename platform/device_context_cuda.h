// What this process holds of its GPU: its streams, the handles of the libraries, a little memory.
// Only *_cuda.* include this.
//
// Opened at the first use and kept to the end: CUDA's own state goes with the process, and tearing
// it down in static destructors meets a driver that is already gone.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include "platform/device_code.h"
#include "platform/status.h"

namespace engram::cuda {

struct Context {
  int device = 0;
  bool is_integrated = false;
  bool shares_while_running = false;     // concurrentManagedAccess: CPU and GPU at the same time
  bool reaches_everything = false;       // pageableMemoryAccess: any address of the process
  cudaStream_t stream = nullptr;         // the process's queue
  cudaStream_t memory_stream = nullptr;  // clears new memory; never recorded
  cudaEvent_t marks[2] = {};             // for timing
  cublasHandle_t blas = nullptr;
  cusolverDnHandle_t solver = nullptr;
  int* verdict = nullptr;          // device memory
  int* verdict_on_host = nullptr;  // pinned
  float* workspace = nullptr;      // cuSOLVER's, as large as the largest factor so far needed
  int workspace_size = 0;          // floats
};

// The context, made current for the calling thread; or why there is none, as find_device says it.
Result<Context*> context();

// The first device that there is `code` for (device_code.h), or why there is none.
Result<int> choose_device(const char* code = compiled_device_code());

// device_failure or out_of_memory with the call's name, unless it went well.
Status check(const char* call, cudaError_t error);
Status check(const char* call, cublasStatus_t status);
Status check(const char* call, cusolverStatus_t status);

}  // namespace engram::cuda

// ENGRAM_CUDA_TRY(cudaMalloc, &p, n): calls it, and leaves the function with a Status if it failed.
#define ENGRAM_CUDA_TRY(function, ...) \
  ENGRAM_TRY(::engram::cuda::check(#function, function(__VA_ARGS__)))
