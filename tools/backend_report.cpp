#include "tools/backend_report.h"

#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/backend.h"
#include "tools/console/terminal.h"

namespace engram {

Status choose_backend(const std::string& name) {
  ENGRAM_ASSIGN(const BackendChoice choice, parse_backend(name));
  if (choice == BackendChoice::automatic) {
    use_any_backend();
    return {};
  }
  ENGRAM_ASSIGN(const Backend backend, find_backend(choice));
  use_backend(backend);
  return {};
}

void warn_of_gpu_trouble(const Console& console) {
  tell_gpu_trouble([&console](const std::string& sentence) {
    if (can_repaint(stderr)) std::fputs("\r\x1b[K", stderr);  // a bar may stand there
    console.warn(sentence);
  });
}

std::string device_text(const DeviceInfo& device) {
  return fmt::format("{} (sm_{}{}, {} multiprocessors{}), CUDA {}, driver for CUDA {}", device.name,
                     device.major, device.minor, device.multiprocessors,
                     device.is_integrated ? ", shares the machine's memory" : "",
                     cuda_version(device.runtime), cuda_version(device.driver));
}

nlohmann::ordered_json device_json(const DeviceInfo& device) {
  return {{"name", device.name},
          {"compute_capability", fmt::format("{}.{}", device.major, device.minor)},
          {"multiprocessors", device.multiprocessors},
          {"memory_bytes", device.memory_bytes},
          {"free_bytes", device.free_bytes},
          {"integrated", device.is_integrated},
          {"concurrent_managed_access", device.shares_while_running},
          {"driver", cuda_version(device.driver)},
          {"runtime", cuda_version(device.runtime)}};
}

std::string backend_text() {
  const Backend& backend = backend_in_use();
  if (backend.device) return "cuda: " + device_text(*backend.device);
  return "the CPU";
}

nlohmann::ordered_json backend_json() {
  const Backend& backend = backend_in_use();
  nlohmann::ordered_json answer{{"name", backend.kernels->name}};
  if (backend.device) answer["device"] = device_json(*backend.device);
  if (!backend.why_cpu.empty()) answer["why"] = backend.why_cpu;
  return answer;
}

}  // namespace engram
