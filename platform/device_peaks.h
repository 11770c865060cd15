// What a GPU can do at best, by what its maker publishes. For estimates only.
#pragma once

#include <optional>
#include <string>

#include "platform/device.h"

namespace engram {

struct DevicePeaks {
  std::string name;
  std::string target;        // "sm_87": which compiled code it runs
  int multiprocessors = 0;   // SMs
  double clock = 0;          // Hz
  double memory_bytes = 0;   // a second
  double cache_bytes = 0;    // L2
  int half_products = 0;     // multiply-adds of halves into floats, per SM and clock, dense
  int byte_products = 0;     // of bytes into whole numbers
  int float_products = 128;  // of floats, without tensor cores

  double float_operations() const { return 2.0 * float_products * multiprocessors * clock; }
  double half_operations() const { return 2.0 * half_products * multiprocessors * clock; }
  double byte_operations() const { return 2.0 * byte_products * multiprocessors * clock; }
};

// Devices of `engram plan`: "orin-nano-8gb", and a card of a desk for each target. Clocks and
// bandwidths of the makers' data sheets, in the mode they are sold with ("Super" modes are faster).
std::optional<DevicePeaks> published_peaks(const std::string& device);

// Of the GPU in this machine, from the clocks that it reports; the memory of one that shares the
// machine's is the published one of `board`, as the device tree calls it ("NVIDIA Jetson Orin Nano
// Developer Kit"). None if it reports no clock, if nobody says how fast its memory is, or if it is
// of a kind that we have no code for.
std::optional<DevicePeaks> reported_peaks(const DeviceInfo& device, const std::string& board);

}  // namespace engram
