// Managed memory and copies by the CUDA runtime. Who may touch it when: device_memory.h.
#include "platform/device_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "platform/arena.h"
#include "platform/device.h"
#include "platform/device_blas.h"
#include "platform/device_context_cuda.h"
#include "platform/device_recording.h"

namespace engram::cuda {
namespace {

// An integrated GPU's free memory is the machine's, and CUDA does not count what the file cache
// would give back.
Result<std::size_t> free_now(const Context& c) {
  std::size_t free = 0, all = 0;
  ENGRAM_CUDA_TRY(cudaMemGetInfo, &free, &all);
  return c.is_integrated ? std::max(free, static_cast<std::size_t>(available_memory())) : free;
}

std::size_t free_bytes() {
  const Result<Context*> c = context();
  if (!c.ok()) return 0;
  const Result<std::size_t> free = free_now(*c.value());
  return free.ok() ? free.value() : 0;
}

Status refused(std::size_t bytes, std::size_t free) {
  (void)cudaGetLastError();  // a library must not find it there
  return device_memory_refused(bytes, free);
}

// Not on the queue: another thread may be recording there, and would record this.
Status clear(const Context& c, void* memory, std::size_t bytes) {
  ENGRAM_CUDA_TRY(cudaMemsetAsync, memory, 0, bytes, c.memory_stream);
  ENGRAM_CUDA_TRY(cudaStreamSynchronize, c.memory_stream);
  return Status();
}

Result<void*> allocate(std::size_t bytes) {
  ENGRAM_ASSIGN(Context * c, context());
  ENGRAM_ASSIGN(const std::size_t free, free_now(*c));
  // Managed memory may be promised beyond what there is, and fail when it is touched: ask first.
  if (bytes > free) return device_memory_refused(bytes, free);
  void* memory = nullptr;
  const cudaError_t error = cudaMallocManaged(&memory, std::max<std::size_t>(bytes, 1));
  if (error == cudaErrorMemoryAllocation) return refused(bytes, free);
  ENGRAM_TRY(check("cudaMallocManaged", error));
  if (Status cleared = clear(*c, memory, bytes); !cleared.ok()) {
    (void)cudaFree(memory);
    return cleared;
  }
  return memory;
}

void release(void* memory, std::size_t /*bytes*/) {
  (void)cudaFree(memory);  // of a lost device nothing can be given back
}

bool shares_while_running() {
  const Result<Context*> c = context();
  return c.ok() && c.value()->shares_while_running;
}

Result<void*> allocate_shared(std::size_t bytes) {
  ENGRAM_ASSIGN(Context * c, context());
  if (c->shares_while_running) return allocate(bytes);  // a card keeps it in its own memory
  ENGRAM_ASSIGN(const std::size_t free, free_now(*c));
  if (bytes > free) return device_memory_refused(bytes, free);
  void* memory = nullptr;
  const cudaError_t error = cudaHostAlloc(&memory, std::max<std::size_t>(bytes, 1),
                                          cudaHostAllocMapped | cudaHostAllocPortable);
  if (error == cudaErrorMemoryAllocation) return refused(bytes, free);
  ENGRAM_TRY(check("cudaHostAlloc", error));
  std::memset(memory, 0, bytes);
  return memory;
}

void release_shared(void* memory, std::size_t bytes) {
  if (shares_while_running()) return release(memory, bytes);
  (void)cudaFreeHost(memory);
}

bool reaches(const void* memory) {
  const Result<Context*> c = context();
  if (!c.ok()) return false;
  if (c.value()->reaches_everything) return true;
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
    (void)cudaGetLastError();  // it is no failure of ours
    return false;
  }
  return attributes.type != cudaMemoryTypeUnregistered;
}

Status copy(Stream stream, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
            std::size_t bytes, std::size_t rows) {
  if (bytes == 0 || rows == 0) return Status();
  const auto queue = static_cast<cudaStream_t>(stream.handle);
  if (rows == 1 || (to_pitch == bytes && from_pitch == bytes)) {
    ENGRAM_CUDA_TRY(cudaMemcpyAsync, to, from, bytes * rows, cudaMemcpyDefault, queue);
  } else {
    ENGRAM_CUDA_TRY(cudaMemcpy2DAsync, to, to_pitch, from, from_pitch, bytes, rows,
                    cudaMemcpyDefault, queue);
  }
  return Status();
}

Result<Stream> open() {
  ENGRAM_ASSIGN(Context * c, context());
  return Stream{c->stream};
}

Status synchronise(Stream stream) {
  ENGRAM_CUDA_TRY(cudaStreamSynchronize, static_cast<cudaStream_t>(stream.handle));
  return Status();
}

Status mark(Stream stream, int place) {
  ENGRAM_ASSIGN(Context * c, context());
  ENGRAM_CUDA_TRY(cudaEventRecord, c->marks[place], static_cast<cudaStream_t>(stream.handle));
  return Status();
}

Result<double> seconds_between_marks() {
  ENGRAM_ASSIGN(Context * c, context());
  float milliseconds = 0;
  ENGRAM_CUDA_TRY(cudaEventElapsedTime, &milliseconds, c->marks[0], c->marks[1]);
  return 1e-3 * milliseconds;
}

}  // namespace

const DeviceMemory kMemory{.name = "cuda",
                           .allocate = allocate,
                           .release = release,
                           .allocate_shared = allocate_shared,
                           .release_shared = release_shared,
                           .shares_while_running = shares_while_running,
                           .reserve_factor = blas_reserve_factor,
                           .free_bytes = free_bytes,
                           .reaches = reaches,
                           .copy = copy,
                           .open = open,
                           .synchronise = synchronise,
                           .mark = mark,
                           .seconds_between_marks = seconds_between_marks,
                           .recordings = &kRecordings};

Result<int*> device_verdict() {
  ENGRAM_ASSIGN(Context * c, context());
  return static_cast<int*>(c->verdict);
}

Result<int> read_device_verdict(Stream stream) {
  ENGRAM_ASSIGN(Context * c, context());
  const auto queue = static_cast<cudaStream_t>(stream.handle);
  ENGRAM_CUDA_TRY(cudaMemcpyAsync, c->verdict_on_host, c->verdict, sizeof(int),
                  cudaMemcpyDeviceToHost, queue);
  ENGRAM_CUDA_TRY(cudaStreamSynchronize, queue);
  return int{*c->verdict_on_host};
}

}  // namespace engram::cuda
