// The CUDA runtime of the GPU that is not there.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include <cuda_runtime.h>

#include "tests/cuda/fake_gpu.h"
#include "tests/cuda/fake_queue_cuda.h"

namespace engram::test {
namespace {

enum class Kind { device, pinned, managed };
struct Block {
  std::size_t bytes;
  Kind kind;
};
std::map<std::uintptr_t, Block> blocks;
using Work = std::vector<std::function<void()>>;
std::map<cudaStream_t, Work> streams;
struct Capture {
  cudaStream_t stream;
  std::thread::id thread;
  Work work;
  bool is_spoilt = false;
};
Capture* capture = nullptr;  // under way
std::size_t marks = 0;       // passed so far

FakeGpu chosen_machine() {
  const char* const name = std::getenv("ENGRAM_FAKE_GPU");
  const std::string chosen = name == nullptr ? "orin" : name;
  FakeGpu gpu;
  if (chosen == "thor") {
    gpu.major = 11, gpu.minor = 0;
    gpu.shares_while_running = gpu.reaches_everything = true;
  } else if (chosen == "card") {
    gpu.minor = 9;
    gpu.is_integrated = false, gpu.shares_while_running = true;
  } else if (chosen != "orin") {
    std::fprintf(stderr, "ENGRAM_FAKE_GPU=%s: orin, thor or card\n", name);
    std::abort();
  }
  return gpu;
}

void open_managed(bool is_open) {
  if (fake_gpu().shares_while_running) return;
  for (const auto& [address, block] : blocks) {
    if (block.kind != Kind::managed) continue;
    mprotect(reinterpret_cast<void*>(address), block.bytes,
             is_open ? PROT_READ | PROT_WRITE : PROT_NONE);
  }
}

const Block* block_of(const void* memory, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  auto after = blocks.upper_bound(address);
  if (after == blocks.begin()) return nullptr;
  --after;
  return address + bytes <= after->first + after->second.bytes ? &after->second : nullptr;
}

bool is_stream(cudaStream_t stream) {
  return streams.count(stream) > 0;
}
bool is_captured(cudaStream_t stream) {
  return capture != nullptr && capture->stream == stream;
}
bool is_idle() {
  for (const auto& [stream, work] : streams)
    if (!work.empty()) return false;
  return true;
}

cudaError_t spoilt() {
  capture->is_spoilt = true;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t allocate(void** memory, std::size_t bytes, Kind kind) {
  if (fake_gpu().is_lost) return cudaErrorLaunchFailure;
  if (capture != nullptr && capture->thread == std::this_thread::get_id()) return spoilt();
  ++fake_gpu().allocations;
  if (bytes > fake_gpu().memory) return cudaErrorMemoryAllocation;
  *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (*memory == MAP_FAILED) return cudaErrorMemoryAllocation;
  std::memset(*memory, 0xff, bytes);
  blocks[reinterpret_cast<std::uintptr_t>(*memory)] = {bytes, kind};
  fake_gpu().blocks = int(blocks.size());
  if (kind == Kind::managed && !is_idle()) open_managed(false);
  return cudaSuccess;
}

cudaError_t answer() {
  return fake_gpu().is_lost ? cudaErrorLaunchFailure : cudaSuccess;
}

}  // namespace

FakeGpu& fake_gpu() {
  static FakeGpu gpu = chosen_machine();
  return gpu;
}

bool is_managed(const void* memory) {
  const Block* const block = block_of(memory, 1);
  return block != nullptr && block->kind == Kind::managed;
}

void queue(cudaStream_t stream, std::function<void()> more) {
  if (fake_gpu().is_lost) return;
  if (is_captured(stream)) {
    capture->work.push_back(std::move(more));
    return;
  }
  open_managed(false);
  streams.at(stream).push_back(std::move(more));
}

bool can_take_memory(cudaStream_t stream) {
  if (!is_captured(stream)) return true;
  (void)spoilt();
  return false;
}

bool gpu_reaches(const void* memory, std::size_t bytes) {
  if (fake_gpu().reaches_everything && memory != nullptr) return true;
  if (block_of(memory, bytes) != nullptr) return true;
  fake_gpu().is_lost = true;
  return false;
}

}  // namespace engram::test

using namespace engram::test;  // NOLINT: what follows has the vendor's names

extern "C" {

cudaError_t cudaDriverGetVersion(int* version) {
  *version = fake_gpu().driver;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = fake_gpu().runtime;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  if (fake_gpu().driver < fake_gpu().runtime) return cudaErrorInsufficientDriver;
  if (!fake_gpu().answers) return cudaErrorInitializationError;
  *count = fake_gpu().devices;
  return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {};
  std::strcpy(properties->name, "a GPU that is not there");
  properties->major = device == 0 ? fake_gpu().major : fake_gpu().other_major;
  properties->minor = device == 0 ? fake_gpu().minor : fake_gpu().other_minor;
  properties->multiProcessorCount = 8;
  properties->integrated = fake_gpu().is_integrated;
  properties->concurrentManagedAccess = fake_gpu().shares_while_running;
  properties->pageableMemoryAccess = fake_gpu().reaches_everything;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) {
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  const FakeGpu& gpu = fake_gpu();
  *value = attribute == cudaDevAttrIntegrated                ? gpu.is_integrated
           : attribute == cudaDevAttrConcurrentManagedAccess ? gpu.shares_while_running
           : attribute == cudaDevAttrPageableMemoryAccess    ? gpu.reaches_everything
                                                             : 0;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = reinterpret_cast<cudaStream_t>(new char);
  streams[*stream] = {};
  return cudaSuccess;
}
// An event is a place in the line of work: its time is how many came before it.
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = reinterpret_cast<cudaEvent_t>(new std::size_t{0});
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  queue(stream, [event] { *reinterpret_cast<std::size_t*>(event) = ++marks; });
  return answer();
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!is_idle()) return cudaErrorNotReady;
  *milliseconds = static_cast<float>(*reinterpret_cast<std::size_t*>(end)) -
                  static_cast<float>(*reinterpret_cast<std::size_t*>(start));
  return answer();
}
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return allocate(memory, bytes, Kind::device);
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  return allocate(memory, bytes, Kind::pinned);
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  if ((flags & cudaHostAllocMapped) == 0) return cudaErrorInvalidValue;
  return allocate(memory, bytes, Kind::pinned);
}
cudaError_t cudaFreeHost(void* memory) {
  const Block* const block = block_of(memory, 1);
  if (block == nullptr || block->kind != Kind::pinned) return cudaErrorInvalidValue;
  return cudaFree(memory);
}
cudaError_t cudaMallocManaged(void** memory, std::size_t bytes, unsigned) {
  return allocate(memory, bytes, Kind::managed);
}
cudaError_t cudaFree(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  const auto block = blocks.find(reinterpret_cast<std::uintptr_t>(memory));
  if (block == blocks.end()) return cudaErrorInvalidValue;
  munmap(memory, block->second.bytes);
  blocks.erase(block);
  fake_gpu().blocks = int(blocks.size());
  return answer();
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all) {
  *free = *all = fake_gpu().memory;
  return answer();
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  if (fake_gpu().no_memory_in == "cudaMemsetAsync") return cudaErrorMemoryAllocation;
  if (!gpu_reaches(memory, bytes)) return cudaErrorInvalidValue;
  queue(stream, [=] { std::memset(memory, value, bytes); });
  return answer();
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t bytes, std::size_t rows,
                              cudaMemcpyKind, cudaStream_t stream) {
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  if (to_pitch < bytes || from_pitch < bytes) return cudaErrorInvalidPitchValue;
  queue(stream, [=] {
    for (std::size_t r = 0; r < rows; ++r) {
      std::memcpy(static_cast<char*>(to) + r * to_pitch,
                  static_cast<const char*>(from) + r * from_pitch, bytes);
    }
  });
  return answer();
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  if (is_captured(stream)) return spoilt();
  open_managed(true);
  for (const auto& one : streams[stream])
    if (!fake_gpu().is_lost) one();
  streams[stream].clear();
  if (!is_idle()) open_managed(false);  // another stream's
  return answer();
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  if (capture != nullptr) return cudaErrorIllegalState;
  capture = new Capture{stream, std::this_thread::get_id(), {}};
  return answer();
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (!is_captured(stream)) return cudaErrorIllegalState;
  Capture* const ended = std::exchange(capture, nullptr);
  if (ended->is_spoilt) {
    delete ended;
    return cudaErrorStreamCaptureInvalidated;
  }
  *graph = reinterpret_cast<cudaGraph_t>(ended);
  return answer();
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  if (fake_gpu().no_memory_in == "cudaGraphInstantiate") return cudaErrorMemoryAllocation;
  *made = reinterpret_cast<cudaGraphExec_t>(new Work(reinterpret_cast<Capture*>(graph)->work));
  return answer();
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete reinterpret_cast<Capture*>(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t made, cudaStream_t stream) {
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  if (is_captured(stream)) return cudaErrorIllegalState;
  queue(stream, [made] {
    for (const auto& one : *reinterpret_cast<Work*>(made)) one();
  });
  return answer();
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t made) {
  delete reinterpret_cast<Work*>(made);
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  const Block* block = block_of(memory, 1);
  attributes->type = block == nullptr              ? cudaMemoryTypeUnregistered
                     : block->kind == Kind::device ? cudaMemoryTypeDevice
                     : block->kind == Kind::pinned ? cudaMemoryTypeHost
                                                   : cudaMemoryTypeManaged;
  return answer();
}
cudaError_t cudaGetLastError() {
  return answer();
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorLaunchFailure ? "unspecified launch failure" : "some error";
}

}  // extern "C"
