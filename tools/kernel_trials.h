// Every operation of a backend against the CPU, on made-up operands: the self-test of `doctor`.
//
// Whole-number operations must give the same bits. Float ones may differ in the order of their
// sums: the difference is counted relative to the largest element of the CPU's result. Of a factor
// that is U alone; G, which lies in the same buffer, must keep its bits.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/kernel_work.h"
#include "kernels/kernels.h"

namespace engram {

struct KernelTrial {
  std::string operation;
  std::string shape;
  OperationShape size;
  bool whole_numbers = false;
  double difference = 0;  // 0: the same bits
  double tolerance = 0;
  double cpu_ms = 0, device_ms = 0;  // the best of a few runs
  Status status;                     // of the device's run

  bool passed() const { return status.ok() && difference <= tolerance; }
};

enum class TrialSize {
  emulator,  // a second in all
  device,    // the sizes of real learners too
};

struct KernelTrials {
  std::vector<KernelTrial> trials;
  std::vector<std::string> on_the_cpu;  // operations that the backend has not, or takes from cpu

  int failures() const;
};

// `tried` is called after each trial, for progress.
KernelTrials try_kernels(const Kernels& device, TrialSize size,
                         const std::function<void(const KernelTrial&)>& tried = {});

}  // namespace engram
