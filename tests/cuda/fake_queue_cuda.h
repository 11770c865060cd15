// What the fake runtime and the fake libraries share.
#pragma once

#include <cstddef>
#include <functional>

#include <cuda_runtime.h>

namespace engram::test {

void queue(cudaStream_t stream, std::function<void()> work);  // done by the next wait for it
// A library takes memory of its own: not in a capture, which that spoils.
bool can_take_memory(cudaStream_t stream);
// Is all of it the GPU's? Else the device is lost.
bool gpu_reaches(const void* memory, std::size_t bytes);

}  // namespace engram::test
