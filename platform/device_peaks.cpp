#include "platform/device_peaks.h"

#include <algorithm>
#include <array>

namespace engram {
namespace {

constexpr double kMega = 1e6, kGiga = 1e9, kMiB = 1 << 20;

struct Module {
  const char* name;
  const char* target;
  int multiprocessors;
  double clock, memory_bytes, cache_bytes;
};
// Jetson Orin: a multiprocessor multiplies 2048 bytes or 1024 halves per clock, which gives the
// 20, 40, 60 and 170 sparse int8 TOPS of the four GPUs' data sheets (dense is half of sparse).
// Jetson T5000 (AGX Thor): 2560 cores, 1.57 GHz, 273 GB/s and 2070 sparse FP4 TFLOPS of its data
// sheet; a quarter of those are dense products of bytes. Its cache is what the driver reports.
// Checked: 20 multiprocessors and 32 MiB as CUDA reports them on one
// (forums.developer.nvidia.com/t/356355); 1.57 GHz and 65 536 sparse FP4 operations a clock and
// multiprocessor, an eighth of which are dense half products' (torring.dev/blog/2026/rtx-spark-throttling).
// Not found again: its 273 GB/s.
// Cards: the tables of NVIDIA's "Ampere GA102", "Ada" and "RTX Blackwell GPU architecture" papers:
// 238, 661 and 838 dense int8 TOPS at the boost clock. Checked in tables that others made of them:
// 4090 pcspecchart.com/pc_parts/gpu/25, 5090 fpsbench.com/compare/gpu, 3080 cputronic.com/ru/gpu.
constexpr std::array kModules{
    Module{"orin-nano-4gb", "sm_87", 4, 625 * kMega, 34 * kGiga, 2 * kMiB},
    Module{"orin-nano-8gb", "sm_87", 8, 625 * kMega, 68 * kGiga, 2 * kMiB},
    Module{"orin-nx-16gb", "sm_87", 8, 918 * kMega, 102.4 * kGiga, 2 * kMiB},
    Module{"agx-orin-64gb", "sm_87", 16, 1300 * kMega, 204.8 * kGiga, 4 * kMiB},
    Module{"agx-thor-128gb", "sm_110", 20, 1575 * kMega, 273 * kGiga, 32 * kMiB},
    Module{"rtx-3080-10gb", "sm_86", 68, 1710 * kMega, 760 * kGiga, 5 * kMiB},
    Module{"rtx-4090-24gb", "sm_89", 128, 2520 * kMega, 1008 * kGiga, 72 * kMiB},
    Module{"rtx-5090-32gb", "sm_120", 170, 2407 * kMega, 1792 * kGiga, 96 * kMiB},
};

struct TensorRates {
  int major, minor;
  const char* target;
  int half_products, byte_products;
};
// Dense, with floats as sums. Thor's are those of its data sheet; what mma reaches of them is not
// published.
constexpr std::array kRates{
    TensorRates{8, 6, "sm_86", 256, 1024},   TensorRates{8, 7, "sm_87", 1024, 2048},
    TensorRates{8, 9, "sm_89", 256, 1024},   TensorRates{11, 0, "sm_110", 4096, 8192},
    TensorRates{12, 0, "sm_120", 256, 1024},
};

struct Board {
  const char* words;  // in the device tree's name of the board, whoever made the carrier
  double least_memory;
  const char* module;
};
// Modules that differ in memory size alone share a bandwidth, but for the two of Orin Nano. Not by
// multiprocessors: a power mode hides some.
constexpr std::array kBoards{
    Board{"Orin Nano", 6 * 1024 * kMiB, "orin-nano-8gb"},
    Board{"Orin Nano", 0, "orin-nano-4gb"},
    Board{"Orin NX", 0, "orin-nx-16gb"},
    Board{"AGX Orin", 0, "agx-orin-64gb"},
    Board{"Thor", 0, "agx-thor-128gb"},
};

// Bytes a second, 0: of a board that is not known. What CUDA says of a Jetson's memory is of no
// use: the published outputs of deviceQuery show 624 MHz and 64 bits (Orin Nano), 612 and 256
// (AGX Orin), 0 and 0 (Thor, CUDA 13.0).
double board_bandwidth(const DeviceInfo& device, const std::string& board) {
  for (const Board& known : kBoards) {
    if (board.find(known.words) == std::string::npos) continue;
    if (double(device.memory_bytes) < known.least_memory) continue;
    const DevicePeaks published = *published_peaks(known.module);
    // The "Super" modes of Orin Nano raise both clocks: 51 and 102 GB/s of the data sheet.
    const bool is_super =
        std::string(known.words) == "Orin Nano" && device.clock > 1.1 * published.clock;
    return (is_super ? 1.5 : 1) * published.memory_bytes;
  }
  return 0;
}

}  // namespace

std::optional<DevicePeaks> published_peaks(const std::string& device) {
  for (const Module& module : kModules) {
    if (device != module.name) continue;
    const TensorRates& rates =
        *std::find_if(kRates.begin(), kRates.end(),
                      [&](const TensorRates& r) { return std::string(r.target) == module.target; });
    return DevicePeaks{.name = module.name,
                       .target = module.target,
                       .multiprocessors = module.multiprocessors,
                       .clock = module.clock,
                       .memory_bytes = module.memory_bytes,
                       .cache_bytes = module.cache_bytes,
                       .half_products = rates.half_products,
                       .byte_products = rates.byte_products};
  }
  return std::nullopt;
}

std::optional<DevicePeaks> reported_peaks(const DeviceInfo& device, const std::string& board) {
  const double memory = device.is_integrated ? board_bandwidth(device, board)
                                             // Two transfers per clock.
                                             : 2 * device.memory_clock * device.memory_bus_bits / 8;
  if (device.clock <= 0 || memory <= 0 || device.multiprocessors <= 0) return std::nullopt;
  for (const TensorRates& rates : kRates) {
    if (rates.major != device.major || rates.minor != device.minor) continue;
    return DevicePeaks{.name = device.name,
                       .target = rates.target,
                       .multiprocessors = device.multiprocessors,
                       .clock = device.clock,
                       .memory_bytes = memory,
                       .cache_bytes = double(device.cache_bytes),
                       .half_products = rates.half_products,
                       .byte_products = rates.byte_products};
  }
  return std::nullopt;
}

}  // namespace engram
