// How long a kernel takes on a GPU, estimated from what it moves, what it computes and what its
// machine code is made of. An estimate: nothing here was measured.
//
//     time  = the largest of
//       memory    bytes to and from DRAM / bandwidth
//       cache     bytes from L2 / 64 bytes per multiprocessor (SM) and clock
//       tensor, float, integer, convert, double, load/store
//                 instructions / what the SM's units take per clock
//       issue     all instructions / 4 per SM and clock
//       latency   reads that wait for each other, 500 clocks each, times the waves of blocks
//     limit = what no kernel can beat: the least bytes / bandwidth, or the least operations / peak
//
// Instructions come from the machine code (kernel_code.h), along the ordinary path, on the SM with
// the most blocks. Rates per SM and clock: CUDA programming guide, "Throughput of native arithmetic
// instructions". Peaks are published ones; of memory bandwidth a device reaches less.
#pragma once

#include <string>
#include <vector>

#include "platform/device_peaks.h"

namespace engram {

enum class Products { none, floats, halves, bytes };  // what the limit is counted in

// One launch, or several of the same kernel, and then those of other kernels.
struct KernelWork {
  std::string kernel{};  // in budget.json; empty: of a library, only the limit is known
  double launches = 1;
  double blocks = 0;        // of a launch
  double primary = 0;       // instructions that do the work, of one warp
  double around = 0;        // iterations of the loops around the main one
  double bytes = 0;         // to and from DRAM
  double cached_bytes = 0;  // to the SMs
  double chain = 0;         // reads of a warp that wait for each other
  Products products = Products::none;
  // What cannot be avoided, with all that is `then` launched.
  double least_bytes = 0;
  double operations = 0;           // multiplications and additions
  std::vector<KernelWork> then{};  // one after the other; their limit counts above
};

struct Limit {
  std::string name;
  double seconds = 0;
};

struct Estimate {
  std::string kernel;        // the first, in budget.json; empty: of a library
  double seconds = 0;        // on the GPU, without starting it
  double limit_seconds = 0;  // what cannot be beaten
  std::string binds;         // the largest of the times, of the longest launch: "memory"
  std::string limit;         // the roof: "memory" or "tensor", "float"
  bool from_code = false;    // false: of a library, the estimate is the limit
  std::vector<Limit> all;    // of all launches together
  double launches = 1;

  double share_of_limit() const { return seconds > 0 ? limit_seconds / seconds : 0; }
};

Estimate estimate(const KernelWork& work, const DevicePeaks& device);

// To start a kernel and wait for it: assumed, of the order that is usual on a Jetson.
inline constexpr double kLaunchSeconds = 10e-6;

}  // namespace engram
