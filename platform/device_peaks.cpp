#include "platform/device_peaks.h"

#include <array>

namespace engram {
namespace {

constexpr double kMega = 1e6, kGiga = 1e9, kMiB = 1 << 20;

struct Module {
  const char* name;
  int multiprocessors;
  double clock, memory_bytes, cache_bytes;
};
// Jetson Orin: a multiprocessor multiplies 2048 bytes or 1024 halves per clock, which gives the
// 20, 40, 60 and 170 sparse int8 TOPS of the four GPUs' data sheets (dense is half of sparse).
constexpr std::array kModules{
    Module{"orin-nano-4gb", 4, 625 * kMega, 34 * kGiga, 2 * kMiB},
    Module{"orin-nano-8gb", 8, 625 * kMega, 68 * kGiga, 2 * kMiB},
    Module{"orin-nx-16gb", 8, 918 * kMega, 102.4 * kGiga, 2 * kMiB},
    Module{"agx-orin-64gb", 16, 1300 * kMega, 204.8 * kGiga, 4 * kMiB},
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

}  // namespace

std::optional<DevicePeaks> published_peaks(const std::string& device) {
  for (const Module& module : kModules) {
    if (device != module.name) continue;
    return DevicePeaks{.name = module.name,
                       .target = "sm_87",
                       .multiprocessors = module.multiprocessors,
                       .clock = module.clock,
                       .memory_bytes = module.memory_bytes,
                       .cache_bytes = module.cache_bytes,
                       .half_products = 1024,
                       .byte_products = 2048};
  }
  return std::nullopt;
}

std::optional<DevicePeaks> reported_peaks(const DeviceInfo& device) {
  if (device.clock <= 0 || device.memory_clock <= 0 || device.memory_bus_bits <= 0 ||
      device.multiprocessors <= 0) {
    return std::nullopt;
  }
  for (const TensorRates& rates : kRates) {
    if (rates.major != device.major || rates.minor != device.minor) continue;
    return DevicePeaks{.name = device.name,
                       .target = rates.target,
                       .multiprocessors = device.multiprocessors,
                       .clock = device.clock,
                       // Two transfers per clock.
                       .memory_bytes = 2.0 * device.memory_clock * device.memory_bus_bits / 8,
                       .cache_bytes = double(device.cache_bytes),
                       .half_products = rates.half_products,
                       .byte_products = rates.byte_products};
  }
  return std::nullopt;
}

}  // namespace engram
