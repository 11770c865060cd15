#include "tools/machine_state.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/doctor/doctor.h"

namespace engram {
namespace {

namespace fs = std::filesystem;

std::optional<double> number_in(const fs::path& path) {
  double value = 0;
  if (std::ifstream(path) >> value) return value;
  return std::nullopt;
}

// For each entry of a folder whose name has `part`.
void visit(const std::string& folder, const std::string& part,
           const std::function<void(const fs::path&)>& entry) {
  std::error_code error;
  for (const auto& found : fs::directory_iterator(folder, error)) {
    if (found.path().filename().string().find(part) != std::string::npos) entry(found.path());
  }
}

void raise(std::optional<double>& largest, std::optional<double> value, double unit) {
  if (value) largest = std::max(largest.value_or(0), *value * unit);
}

}  // namespace

MachineState machine_state(const std::string& root) {
  MachineState state;
  state.power_mode = first_line(root + "/var/lib/nvpmodel/status");
  const std::string cpus = root + "/sys/devices/system/cpu";
  state.governor = first_line(cpus + "/cpu0/cpufreq/scaling_governor");
  const auto count = [](std::optional<long long>& sum, const fs::path& path) {
    if (const auto events = number_in(path)) {
      sum = sum.value_or(0) + static_cast<long long>(*events);
    }
  };
  visit(cpus, "cpu", [&](const fs::path& cpu) {
    raise(state.cpu_mhz, number_in(cpu / "cpufreq/scaling_cur_freq"), 1e-3);
    count(state.throttle_events, cpu / "thermal_throttle/core_throttle_count");
  });
  visit(root + "/sys/class/devfreq", "gpu",
        [&](const fs::path& gpu) { raise(state.gpu_mhz, number_in(gpu / "cur_freq"), 1e-6); });
  visit(root + "/sys/class/thermal", "thermal_zone",
        [&](const fs::path& zone) { raise(state.celsius, number_in(zone / "temp"), 1e-3); });
  // Of a Jetson: over-current events, and what is held back by heat.
  visit(root + "/sys/class/hwmon", "hwmon", [&](const fs::path& monitor) {
    for (int i = 1; i <= 3; ++i)
      count(state.power_events, monitor / fmt::format("oc{}_event_cnt", i));
  });
  if (state.power_events) {
    state.throttle_events = state.throttle_events.value_or(0) + *state.power_events;
  }
  visit(root + "/sys/class/thermal", "cooling_device", [&](const fs::path& device) {
    const std::string type = first_line((device / "type").string());
    if (type.find("throttle") == std::string::npos) return;  // a fan is none
    if (const auto level = number_in(device / "cur_state")) {
      state.is_slowed = state.is_slowed.value_or(false) || *level > 0;
    }
  });
  return state;
}

std::optional<bool> was_throttled(const MachineState& before, const MachineState& after) {
  if (!after.throttle_events && !after.is_slowed) return std::nullopt;
  return after.is_slowed.value_or(false) ||
         after.throttle_events.value_or(0) > before.throttle_events.value_or(0);
}

std::string state_text(const MachineState& state) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (!state.power_mode.empty()) add("power mode " + state.power_mode);
  if (!state.governor.empty()) add("governor " + state.governor);
  if (state.cpu_mhz) add(fmt::format("processor at {:.0f} MHz", *state.cpu_mhz));
  if (state.gpu_mhz) add(fmt::format("GPU at {:.0f} MHz", *state.gpu_mhz));
  if (state.celsius) add(fmt::format("hottest part {:.0f} °C", *state.celsius));
  std::string silent;
  const auto miss = [&silent](bool is_told, const char* what) {
    if (!is_told) silent += (silent.empty() ? "" : ", ") + std::string(what);
  };
  miss(state.cpu_mhz || state.gpu_mhz, "clocks");
  miss(!state.power_mode.empty() || !state.governor.empty(), "power mode");
  miss(state.celsius.has_value(), "temperature");
  miss(state.throttle_events || state.is_slowed, "throttling");
  if (!silent.empty()) add("this machine tells nothing of: " + silent);
  return text;
}

nlohmann::ordered_json state_json(const MachineState& state) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!state.power_mode.empty()) json["power_mode"] = state.power_mode;
  if (!state.governor.empty()) json["governor"] = state.governor;
  if (state.cpu_mhz) json["cpu_mhz"] = *state.cpu_mhz;
  if (state.gpu_mhz) json["gpu_mhz"] = *state.gpu_mhz;
  if (state.celsius) json["celsius"] = *state.celsius;
  if (state.throttle_events) json["throttle_events"] = *state.throttle_events;
  if (state.is_slowed) json["is_slowed"] = *state.is_slowed;
  return json;
}

}  // namespace engram
