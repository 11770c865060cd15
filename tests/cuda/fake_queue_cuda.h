// What the fake runtime and the fake libraries share.
#pragma once

#include <cstddef>
#include <functional>

#include <cuda_runtime.h>

namespace engram::test {

void queue(cudaStream_t stream, std::function<void()> work);  // done by the next wait for it
// Is all of it the GPU's? Else the device is lost.
bool gpu_reaches(const void* memory, std::size_t bytes);

}  // namespace engram::test
