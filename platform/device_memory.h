// Memory that a device's code may touch, and the one queue of work that this process has on it.
//
// Allocated memory is *managed* (cudaMallocManaged): one address for CPU and GPU. On a Jetson both
// share the same memory and nothing is ever copied; a card with memory of its own moves pages as
// they are touched. Everything else in the process, a std::vector say, the device may be unable to
// reach: `reaches` tells, and platform/device_staging.h makes copies where it must.
//
// Who may touch managed memory when. Older integrated GPUs (Orin: concurrentManagedAccess = 0) give
// managed memory to one side at a time: a CPU that touches ANY of it while ANY kernel runs is
// stopped by the system (SIGBUS). There
//   - whoever touches it holds the device meanwhile (DeviceHold, platform/device_staging.h), and
//     kernels run in turns, which hold it too: a Learner and a Scorer see to it themselves;
//   - what threads touch without that, readouts, input tensors, features, is *shared* memory
//     (allocate_shared): the CPU's own, mapped for the GPU, which does not cache it. Good for what a
//     frame reads once.
#pragma once

#include <cstddef>

#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

struct DeviceRecordings;

struct DeviceMemory {
  const char* name;
  // Zeros, aligned to 256 bytes. out_of_memory: the device has not that much free.
  Result<void*> (*allocate)(std::size_t bytes);
  void (*release)(void* memory, std::size_t bytes);
  // The same, of memory that both may touch at any time.
  Result<void*> (*allocate_shared)(std::size_t bytes);
  void (*release_shared)(void* memory, std::size_t bytes);
  // May both touch what allocate() gave at the same time?
  bool (*shares_while_running)();
  // Room that the libraries want to factor a matrix of `size` rows, taken now and kept: the largest so
  // far (platform/device_blas.h).
  Status (*reserve_factor)(int size);
  // That allocate could still give; 0: the device does not answer.
  std::size_t (*free_bytes)();
  // May the device's code use this address?
  bool (*reaches)(const void* memory);
  // `rows` rows of `bytes`, `*_pitch` bytes apart, between any two memories; queued.
  Status (*copy)(Stream stream, void* to, std::size_t to_pitch, const void* from,
                 std::size_t from_pitch, std::size_t bytes, std::size_t rows);
  // The process's queue, open after the first call.
  Result<Stream> (*open)();
  // Waits until all queued work is done. device_failure: some of it failed.
  Status (*synchronise)(Stream stream);
  // A place in the queue, 0 or 1, and the device's time between the two when both have passed.
  Status (*mark)(Stream stream, int place);
  Result<double> (*seconds_between_marks)();
  const DeviceRecordings* recordings;  // platform/device_recording.h
};

// One int of device memory for what a kernel decides. Operations take turns, so one is enough.
using DeviceVerdict = Result<int*>();
// Waits for the stream, then its value.
using ReadDeviceVerdict = Result<int>(Stream stream);

namespace cuda {
extern const DeviceMemory kMemory;      // device_memory_cuda.cpp
DeviceVerdict device_verdict;           // device_memory_cuda.cpp
ReadDeviceVerdict read_device_verdict;  // device_memory_cuda.cpp
}  // namespace cuda
namespace simt {
extern const DeviceMemory kMemory;      // device_memory_simt.cpp
DeviceVerdict device_verdict;           // device_memory_simt.cpp
ReadDeviceVerdict read_device_verdict;  // device_memory_simt.cpp
}  // namespace simt

}  // namespace engram
