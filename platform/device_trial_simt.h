// What a test may make of the emulated device: memory of its own, too little of it, a driver that
// is missing, a device that is lost in the middle.
#pragma once

#include <cstddef>
#include <cstdint>

namespace engram::simt {

struct DeviceTrial {
  // Device code may touch only what kMemory allocated, as on a card with memory of its own. Without
  // it the whole process is within the device's reach.
  bool separate_memory = false;
  std::size_t memory_bytes = SIZE_MAX;  // that the device has
  // The device fails at this one and ever after, then also whoever asks it for memory; -1: never.
  int waits_until_lost = -1;
  int allocations_until_lost = -1;  // the same, but it is found out by who asks for memory
  // As on Orin: while the device runs, what allocate() gave is closed to the CPU, and a touch stops
  // the program. `meanwhile` is called then; null: a short sleep, for other threads to go wrong.
  bool one_side_at_a_time = false;
  void (*meanwhile)() = nullptr;
  bool records = true;  // else what is recorded turns out to be of no use
  // As cudaDriverGetVersion and cudaRuntimeGetVersion say it; driver 0: there is none.
  int driver = 13000;
  int runtime = 13000;
  int devices = 1;
};
DeviceTrial& device_trial();  // device_memory_simt.cpp

// Set waits_until_lost and allocations_until_lost, while other threads may be using the device.
void lose_device_after(int waits);
void lose_device_at_allocation(int number);  // 0: the next

// Sets the trial, and ends it.
class OnTrial {
 public:
  explicit OnTrial(const DeviceTrial& trial);
  ~OnTrial();
  OnTrial(const OnTrial&) = delete;
  OnTrial& operator=(const OnTrial&) = delete;
};

std::size_t device_bytes_allocated();  // by kMemory, at this moment
std::size_t device_allocations();      // by kMemory, since the start
std::size_t device_waits();            // for it, since the start
std::size_t device_recordings();       // made, since the start (device_recording_simt.cpp)

}  // namespace engram::simt
