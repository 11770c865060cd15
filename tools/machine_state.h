// What a machine says of its own speed while something is measured: clocks, power mode, temperature,
// throttling. Read from files below `root`; "/" is this machine. What nobody says is left out.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace engram {

struct MachineState {
  std::string power_mode;  // nvpmodel's, on a Jetson
  std::string governor;    // of the processor's clock
  std::optional<double> cpu_mhz, gpu_mhz;
  std::optional<double> celsius;  // the hottest zone
  // Times that a part was slowed down for heat or current, ever; and is one slowed down now?
  std::optional<long long> throttle_events;
  std::optional<long long> power_events;  // of them, for current
  std::optional<bool> is_slowed;
};

MachineState machine_state(const std::string& root);
// Between the two, or at the end of it, the machine slowed itself down. None: it tells nothing.
std::optional<bool> was_throttled(const MachineState& before, const MachineState& after);

std::string state_text(const MachineState& state);  // one line; says what is not told
nlohmann::ordered_json state_json(const MachineState& state);

}  // namespace engram
