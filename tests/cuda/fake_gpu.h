// A GPU that is not there, for platform/*_cuda.cpp: the functions of the CUDA runtime, cuBLAS and
// cuSOLVER that these files call, on the CPU, by OpenBLAS. So their arguments are seen to mean what
// device_blas.h and device_memory.h say.
//
// Strict where a real one is: work is done when somebody waits for it and not before; while work is
// queued, managed memory is closed to the CPU (as on Orin, a touch stops the program); a pointer
// that is not the GPU's loses the device for good; what is captured is not done. Whatever a thread
// queues on a stream that is captured is captured; waiting for that stream spoils the capture, and so
// does the thread that captures if it takes memory.
#pragma once

#include <cstddef>
#include <string>

namespace engram::test {

struct FakeGpu {
  int driver = 13000, runtime = 13000, devices = 1;
  int major = 8, minor = 7;
  bool answers = true;
  std::size_t memory = std::size_t{1} << 30;  // free
  bool is_lost = false;
  int allocations = 0;       // so far
  int blocks = 0;            // of memory, held now
  std::string no_memory_in;  // the call that finds no memory: "cudaMemsetAsync"
};
FakeGpu& fake_gpu();

}  // namespace engram::test
