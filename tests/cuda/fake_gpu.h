// A GPU that is not there, for platform/*_cuda.cpp: the functions of the CUDA runtime, cuBLAS and
// cuSOLVER that these files call, on the CPU, by OpenBLAS. So their arguments are seen to mean what
// device_blas.h and device_memory.h say.
//
// It is one of three machines, which the environment chooses (ENGRAM_FAKE_GPU): what a process has
// opened stays as it is, so the tests run once for each.
//
//     orin    shares the machine's memory; managed memory is one side's at a time. Without a choice.
//     thor    shares it, both at the same time; the GPU reaches every address of the process
//     card    has its own memory; managed memory may be touched by both
//
// Strict where a real one is: work is done when somebody waits for it and not before; on an Orin,
// while work is queued, managed memory is closed to the CPU (a touch stops the program); a pointer
// that the GPU does not reach loses the device for good; what is captured is not done. Whatever a thread
// queues on a stream that is captured is captured; waiting for that stream spoils the capture, and so
// does the thread that captures if it takes memory.
#pragma once

#include <cstddef>
#include <string>

namespace engram::test {

struct FakeGpu {
  int driver = 13000, runtime = 13000, devices = 1;
  int major = 8, minor = 7;
  int other_major = 8, other_minor = 7;  // of all but the first
  bool is_integrated = true, shares_while_running = false, reaches_everything = false;
  bool answers = true;
  std::size_t memory = std::size_t{1} << 30;  // free
  bool is_lost = false;
  int allocations = 0;       // so far
  int blocks = 0;            // of memory, held now
  std::string no_memory_in;  // the call that finds no memory: "cudaMemsetAsync"
};
FakeGpu& fake_gpu();
bool is_managed(const void* memory);

}  // namespace engram::test
