// Every operation of a backend against the CPU, on made-up operands: the self-test of `doctor`.
//
// Whole-number operations must give the same bits. Float ones may differ in the order of their
// sums: the difference is counted relative to the largest element of the CPU's result. Of a factor
// that is U alone; G, which lies in the same buffer, must keep its bits.
//
// Whatever happens there is a row for each trial: that is when the report is needed. A device that is
// lost in the middle is given up (kernels/backend.h), and what was to come is marked as not tried.
#pragma once

#include <functional>
#include <optional>
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
  // The best of a few runs; the device's by its own clock where it has one, after work that warms it.
  double cpu_ms = 0, device_ms = 0;
  Status status{};        // of the device's run
  bool was_tried = true;  // else `status` says why not
  // Of work in one piece, where a device computes: was it recorded and repeated?
  std::optional<bool> is_recorded{};
  std::string why_not_recorded{};

  bool passed() const { return status.ok() && difference <= tolerance; }
};

enum class TrialSize {
  emulator,  // a second in all
  device,    // the sizes of real learners too
};

struct KernelTrials {
  std::vector<KernelTrial> trials;
  std::vector<std::string> on_the_cpu;  // operations that the backend has not, or takes from cpu
  Status lost;                          // why the device is of no use any more
  std::string lost_at;                  // the trial in which that was seen

  int failures() const;   // and what was not tried
  int not_tried() const;  // of them
};

// On the device whose memory buffers lie in (platform/arena.h), if there is one. `tried` is called
// after each trial, for progress.
KernelTrials try_kernels(const Kernels& device, TrialSize size,
                         const std::function<void(const KernelTrial&)>& tried = {});

}  // namespace engram
