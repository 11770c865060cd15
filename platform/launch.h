// One way to start a kernel, with nvcc or without it. Only device code includes this header.
//
// Compiled by nvcc, a .cu file is the backend `cuda`. Compiled by the host compiler, the same text
// is the backend `simt`, run thread by thread on the CPU (platform/simt.h): that is how kernels are
// tested on a machine without a GPU.
//
// `<<<...>>>` is used nowhere: launch() is plain C++, checks the argument types and always looks at
// the launch error.
#pragma once

#include <cstddef>
#include <tuple>

#include "platform/status.h"
#include "platform/stream.h"

#if defined(__CUDACC__)
#include "platform/device.h"
#include "platform/device_words_cuda.h"
#define ENGRAM_DEVICE_NAMESPACE cuda
#else
#include "platform/simt.h"
#include "platform/simt_arguments.h"
#include "platform/simt_recording.h"
#define ENGRAM_DEVICE_NAMESPACE simt
#endif

namespace engram::ENGRAM_DEVICE_NAMESPACE {

struct Geometry {
  dim3 grid;   // blocks
  dim3 block;  // threads per block
};

// cuda returns once the kernel is queued on `stream`, simt when it has run, both when it is recorded.
template <class... Parameters, class... Arguments>
Status launch(void (*kernel)(Parameters...), Geometry geometry, [[maybe_unused]] Stream stream,
              Arguments... arguments) {
#if defined(__CUDACC__)
  cudaLaunchConfig_t config{};
  config.gridDim = geometry.grid;
  config.blockDim = geometry.block;
  config.stream = static_cast<cudaStream_t>(stream.handle);
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
  if (error == cudaSuccess) return Status();
  (void)cudaGetLastError();  // it is told here: no library is to find it later
  // A kernel's code is loaded at its first launch, which takes memory.
  return error == cudaErrorMemoryAllocation
             ? device_out_of_memory("cudaLaunchKernelEx")
             : device_failed("cudaLaunchKernelEx", cudaGetErrorString(error));
#else
  struct Call {
    void (*kernel)(Parameters...);
    std::tuple<Parameters...> arguments;
  };
  const Call call{kernel, {Parameters(arguments)...}};
  const auto body = [](const void* c) {
    std::apply(static_cast<const Call*>(c)->kernel, static_cast<const Call*>(c)->arguments);
  };
  const auto pointers = [](const void* c, void (*visit)(const void*)) {
    std::apply([&](const auto&... argument) { visit_all(visit, argument...); },
               static_cast<const Call*>(c)->arguments);
  };
  const auto run_it = [=] {
    return run({geometry.grid, geometry.block, body, &call, sizeof call, pointers});
  };
  if (!is_recording()) return run_it();
  record(run_it);
  return Status();
#endif
}

constexpr int divide_up(int n, int by) {
  return (n + by - 1) / by;
}

// A grid with one thread for each element of a matrix: x runs along the columns, y along the rows,
// of which a block takes every gridDim.y-th.
inline Geometry elementwise(int rows, int cols, int threads) {
  constexpr int kMaxGridY = 65535;
  return {.grid = dim3(static_cast<unsigned>(divide_up(cols, threads)),
                       static_cast<unsigned>(rows < kMaxGridY ? rows : kMaxGridY)),
          .block = dim3(static_cast<unsigned>(threads))};
}

// Can `pointer`, and every `stride_bytes` further on, be read by vectors of `bytes`?
inline bool aligned(const void* pointer, std::size_t stride_bytes, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0 && stride_bytes % bytes == 0;
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
