#include "kernels/roofline.h"

#include <algorithm>
#include <cmath>

#include "kernels/kernel_code.h"
#include "platform/status.h"

namespace engram {
namespace {

constexpr double kWarp = 32;
constexpr double kSchedulers = 4;       // of an SM, one instruction of a warp each per clock
constexpr double kWarpsOfSm = 48;       // of all our targets
constexpr double kCacheBytes = 64;      // from L2, per SM and clock
constexpr double kMovedBytes = 128;     // L1 and shared memory, per SM and clock
constexpr double kLatencyClocks = 500;  // of a read from DRAM

// Lanes per SM and clock.
constexpr double kFloatLanes = 128, kMultiplyLanes = 64, kIntegerLanes = 64, kConvertLanes = 16,
                 kDoubleLanes = 2;

// Products of one tensor instruction of a warp: 16 x 8 x 16 halves, 16 x 8 x 32 bytes.
double tensor_clocks(Products products, const DevicePeaks& device) {
  return products == Products::bytes ? 4096.0 / device.byte_products
                                     : 2048.0 / device.half_products;
}

double roof(const KernelWork& work, const DevicePeaks& device) {
  switch (work.products) {
    case Products::none:
      return 0;
    case Products::floats:
      return work.operations / device.float_operations();
    case Products::halves:
      return work.operations / device.half_operations();
    case Products::bytes:
      return work.operations / device.byte_operations();
  }
  return 0;
}

// All instructions of a warp. Around an unrolled loop the compiler puts rounds of the same work, for
// what is left over: where a warp has less to do than those, not all of them come.
InstructionCounts of_warp(const KernelCode& code, const KernelWork& work) {
  InstructionCounts all = code.once;
  const double rounds = code.around.primary > 0 ? work.primary / code.around.primary : work.around;
  all.add(code.around, std::min(rounds, work.around));
  if (code.main.primary > 0) {
    all.add(code.main, std::max(0.0, work.primary - all.primary) / code.main.primary);
  }
  return all;
}

// By resource, of the launches of one kernel.
std::vector<Limit> limits_of(const KernelWork& work, const DevicePeaks& device) {
  const KernelCode* const code = kernel_code(work.kernel, device.target);
  ENGRAM_CHECK(code != nullptr);
  const InstructionCounts warp = of_warp(*code, work);
  const double warps_of_block = std::ceil(code->threads / kWarp);
  const double blocks_of_sm = std::ceil(work.blocks / device.multiprocessors);
  const double warps = work.launches * blocks_of_sm * warps_of_block;  // of the fullest SM
  const auto clocks = [&](double per_warp) { return warps * per_warp / device.clock; };
  const double resident =
      std::max(1.0, std::floor(code->occupancy * kWarpsOfSm / 100 / warps_of_block + 0.1));
  return {
      {"memory", work.bytes / device.memory_bytes},
      {"cache", work.cached_bytes / (kCacheBytes * device.multiprocessors * device.clock)},
      {"tensor", clocks(warp.tensor * tensor_clocks(work.products, device))},
      {"float", clocks(std::max((warp.floats + warp.multiply) * kWarp / kFloatLanes,
                                warp.multiply * kWarp / kMultiplyLanes))},
      {"integer", clocks(warp.integer * kWarp / kIntegerLanes)},
      {"convert", clocks(warp.convert * kWarp / kConvertLanes)},
      {"double", clocks(warp.doubles * kWarp / kDoubleLanes)},
      {"load/store", clocks(warp.moved_bytes * kWarp / kMovedBytes)},
      {"issue", clocks(warp.issued / kSchedulers)},
      {"latency", work.launches * std::ceil(blocks_of_sm / resident) * work.chain * kLatencyClocks /
                      device.clock},
  };
}

Limit slowest(const std::vector<Limit>& all) {
  return *std::max_element(all.begin(), all.end(),
                           [](const Limit& a, const Limit& b) { return a.seconds < b.seconds; });
}

}  // namespace

Estimate estimate(const KernelWork& work, const DevicePeaks& device) {
  Estimate result;
  result.kernel = work.kernel;
  result.launches = work.launches;
  const double compute = roof(work, device), read = work.least_bytes / device.memory_bytes;
  result.limit_seconds = std::max(compute, read);
  result.limit = read >= compute                     ? "memory"
                 : work.products == Products::floats ? "float"
                                                     : "tensor";
  result.seconds = result.limit_seconds;
  result.binds = result.limit;
  if (work.kernel.empty()) return result;
  result.from_code = true;
  result.all = limits_of(work, device);
  Limit longest = slowest(result.all);
  result.seconds = longest.seconds;
  for (const KernelWork& next : work.then) {
    const std::vector<Limit> more = limits_of(next, device);
    for (std::size_t i = 0; i < more.size(); ++i) result.all[i].seconds += more[i].seconds;
    const Limit held = slowest(more);
    result.seconds += held.seconds;
    result.launches += next.launches;
    if (held.seconds > longest.seconds) longest = held;
  }
  result.binds = longest.name;
  return result;
}

}  // namespace engram
