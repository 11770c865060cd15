// `engram bench kernels`: every operation on a backend, over shapes, cold and warm.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/kernel_work.h"
#include "kernels/kernels.h"
#include "platform/device_memory.h"
#include "tools/machine_state.h"

namespace engram {

struct BenchOptions {
  std::vector<int> units{2000, 5000};       // M
  std::vector<int> frames{1, 16, 48, 256};  // B
  std::vector<int> features{1280};          // L
  int classes = 100;                        // K
  int samples = 1000;                       // N, kept
  // Of the vision transformer that adapts: pictures of a step, rows of one (its patches, class token
  // and prompts), heads of 64.
  int pictures = 8, tokens = 202, heads = 12;
  std::vector<std::string> operations;  // empty: all
  double seconds = 0.2;                 // of warm runs for each row
  int other_rows = 2048;                // of 32 KiB: the data that makes an operation cold
  std::string root = "/";               // where the machine's state is read
};

// A backend to measure. By the device's own clock where there is one.
struct BenchBackend {
  const Kernels* kernels = &kCpuKernels;
  const DeviceMemory* memory = nullptr;
  std::optional<DevicePeaks> peaks;  // of a GPU
};

// What the machine reaches at best: of a GPU published, of a CPU measured by our own kernels.
struct BenchPeaks {
  double memory_bytes = 0;  // a second
  double operations = 0;    // floats a second
};
BenchPeaks measure_cpu_peaks(int other_rows);

struct BenchRow {
  std::string operation{}, backend{}, shape{};
  double cold = 0;   // seconds, after 64 MB of other data
  double warm = 0;   // seconds, the median of calls after the same call
  double noise = 0;  // half of the middle half of them, relative to the median
  int runs = 0;
  double bytes = 0, operations = 0;  // that cannot be avoided
  double share = 0;                  // of the peak that is nearer
  std::string peak{};                // which: "memory" or "float", "tensor"
  std::optional<double> estimate{};  // seconds, on a GPU
  MachineState state{};              // when it was done
  std::optional<bool> throttled{};
};

// Names that bench knows, in the order they are measured: every operation of kernels.h.
std::vector<std::string> bench_operations();

// `done` is called after each row.
Result<std::vector<BenchRow>> bench_kernels(const BenchBackend& backend,
                                            const BenchOptions& options,
                                            const std::function<void(const BenchRow&)>& done = {});

}  // namespace engram
