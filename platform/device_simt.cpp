// The emulated device as a device: what it is called, and the faults that a test gives it.
#include "platform/arena.h"
#include "platform/device.h"
#include "platform/device_trial_simt.h"

namespace engram::simt {

bool has_driver() {
  return device_trial().driver != 0;
}

Result<DeviceInfo> find_device() {
  const DeviceTrial& trial = device_trial();
  ENGRAM_TRY(device_absence(trial.driver, trial.runtime, trial.devices, nullptr));
  DeviceInfo info;
  info.name = "emulated GPU (simt)";
  info.major = 8;
  info.minor = 7;
  info.multiprocessors = 1;
  info.memory_bytes = machine_memory();
  info.free_bytes = info.memory_bytes;
  info.is_integrated = true;
  info.shares_while_running = !trial.one_side_at_a_time;
  info.driver = trial.driver;
  info.runtime = trial.runtime;
  return info;
}

}  // namespace engram::simt
