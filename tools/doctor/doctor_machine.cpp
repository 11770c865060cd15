#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/utsname.h>

#include <fmt/format.h>

#include "kernels/simd_cpu.h"
#include "platform/arena.h"
#include "platform/camera_list.h"
#include "platform/driver_tensorrt.h"
#include "platform/engine_library.h"
#include "platform/sentence.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/doctor/doctor.h"
#include "tools/machine_state.h"

namespace engram {
namespace {

namespace fs = std::filesystem;
using DoctorVerdict = Finding::Verdict;

// The value of "key : value" in /proc/cpuinfo or KEY="value" in os-release.
std::string value_of(const std::string& path, const std::string& key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find(separator);
    if (at == std::string::npos || line.compare(0, key.size(), key) != 0) continue;
    std::string value = line.substr(at + 1);
    std::erase(value, '"');
    value.erase(0, value.find_first_not_of(" \t"));
    return printable(value);
  }
  return {};
}

std::vector<fs::path> entries(const std::string& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().rfind(prefix, 0) == 0) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

const char* name(DoctorVerdict verdict) {
  switch (verdict) {
    case DoctorVerdict::fine:
      return "ok";
    case DoctorVerdict::remark:
      return "note";
    case DoctorVerdict::warning:
      return "warning";
    case DoctorVerdict::failure:
      return "FAILURE";
  }
  return "";
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  std::erase(line, '\0');
  return printable(line);
}

Finding machine_finding(const std::string& root) {
  std::string model = first_line(root + "/proc/device-tree/model");
  if (model.empty()) model = first_line(root + "/sys/class/dmi/id/product_name");
  if (model.empty()) model = "a machine without a name";
  std::string system = value_of(root + "/etc/os-release", "PRETTY_NAME", '=');
  if (const std::string l4t = first_line(root + "/etc/nv_tegra_release"); !l4t.empty()) {
    system += ", L4T " + l4t;
  }
  utsname kernel{};
  (void)uname(&kernel);
  return {"machine", DoctorVerdict::fine,
          fmt::format("{}; {}; Linux {} {}; {} of memory", model, system, kernel.release,
                      kernel.machine, bytes_text(machine_memory())),
          Code::ok};
}

Finding processor_finding(const std::string& root) {
  std::string model = value_of(root + "/proc/cpuinfo", "model name", ':');
  if (model.empty()) model = "a processor without a name";
  return {"processor", DoctorVerdict::fine,
          fmt::format("{}, {}; kernels use {}", model,
                      plural(std::max(1u, std::thread::hardware_concurrency()), "core", "cores"),
                      cpu::name(cpu::best_simd())),
          Code::ok};
}

Finding power_finding(const std::string& root) {
  Finding finding{"power", DoctorVerdict::fine, "", Code::ok};
  const auto add = [&finding](const std::string& part) {
    finding.text += (finding.text.empty() ? "" : "; ") + part;
  };
  const MachineState state = machine_state(root);
  // As nvpmodel leaves its choice: "pmode:0002 fmode:quiet".
  if (!state.power_mode.empty()) add("nvpmodel " + state.power_mode);
  if (!state.governor.empty()) add("governor " + state.governor);
  if (state.governor == "powersave") {
    finding.verdict = DoctorVerdict::warning;
    add("the processor is kept slow: times below are not its best");
  }
  if (state.celsius) {
    add(fmt::format("hottest part {:.0f} °C", *state.celsius));
    if (*state.celsius >= 85) {
      finding.verdict = DoctorVerdict::warning;
      add("close to where the machine slows itself down: better cooling helps");
    }
  }
  if (finding.text.empty()) add("this machine says nothing of its power");
  return finding;
}

Finding speed_finding(const MachineState& before, const MachineState& after) {
  Finding finding{"speed", DoctorVerdict::fine, "", Code::ok};
  std::string& text = finding.text;
  if (after.gpu_mhz) text += fmt::format("GPU at {:.0f} MHz, ", *after.gpu_mhz);
  if (after.cpu_mhz) text += fmt::format("processor at {:.0f} MHz, ", *after.cpu_mhz);
  text += text.empty() ? "this machine says nothing of its clocks; " : "when the kernels had run; ";
  const std::optional<bool> throttled = was_throttled(before, after);
  text += !throttled ? "whether it slowed itself down it does not say"
          : *throttled
              ? "it slowed itself down meanwhile, for heat or current: these times are not "
                "its best"
              : "it did not slow itself down";
  if (throttled.value_or(false)) finding.verdict = DoctorVerdict::warning;
  return finding;
}

Finding clock_finding(std::int64_t now, std::int64_t program_written) {
  const std::int64_t day = 24 * 3600;
  if (now + day < program_written) {
    return {
        "clock", DoctorVerdict::warning,
        "the clock shows a time before this program was installed; times in the history will be "
        "wrong. Set it (a board without a battery needs a network: timedatectl)",
        Code::ok};
  }
  return {"clock", DoctorVerdict::fine, "plausible", Code::ok};
}

Finding camera_finding(const std::string& root) {
  Finding finding{"cameras", DoctorVerdict::fine, "", Code::ok};
  std::string& text = finding.text;
  std::string refusals;
  for (const CameraNode& node : list_cameras(root)) {
    const std::string model = printable(node.name);
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", node.path,
                        model.empty() ? "" : " (" + model + ")",
                        node.use == CameraNode::Use::other ? " gives no pictures" : "");
    if (node.use == CameraNode::Use::unknown) refusals += "; " + printable(node.why);
  }
  const std::size_t media = entries(root + "/dev", "media").size();
  if (media > 0)
    text += fmt::format("{}{}", text.empty() ? "" : "; ",
                        plural(std::int64_t(media), "media device", "media devices"));
  if (text.empty()) {
    return {"cameras", DoctorVerdict::remark,
            "none in /dev/video*; pictures, folders and stage:// work without", Code::ok};
  }
  text += refusals;
  if (!refusals.empty()) finding.verdict = DoctorVerdict::remark;
  return finding;
}

Finding tensorrt_finding() {
  if (!uses_engine_library()) {
    return {"TensorRT", DoctorVerdict::remark,
            "not used: this program was told to use the CPU; backbones run by OpenVINO", Code::ok};
  }
  // The driver is asked directly, so that a GPU is seen by a build without CUDA or TensorRT too.
  const Result<CudaDriver> driver = load_cuda_driver();
  const Result<Gpu> gpu = driver.ok() ? find_gpu(driver.value()) : driver.status();
  return tensorrt_finding(engine_library(), gpu.ok() ? gpu.value().name : "");
}

Finding tensorrt_finding(EngineLibrary* library, const std::string& gpu) {
  // The backbone is most of the work of a frame: who has a GPU for it is warned.
  const DoctorVerdict verdict = gpu.empty() ? DoctorVerdict::remark : DoctorVerdict::warning;
  if (library == nullptr) {
    std::string text = "not in this program; backbones run on the CPU (OpenVINO)";
    if (!gpu.empty()) {
      text += fmt::format(
          ", though there is a GPU: {}. Build engram where TensorRT's headers are (JetPack: "
          "libnvinfer-headers-dev), or with ENGRAM_TENSORRT_INCLUDE",
          printable(gpu));
    }
    return {"TensorRT", verdict, text, Code::ok};
  }
  const Result<EngineDevice> device = library->device();
  if (!device.ok()) {
    return {
        "TensorRT", verdict,
        fmt::format("{} Backbones run on the CPU (OpenVINO){}", sentence(device.status().what()),
                    gpu.empty() ? ""
                                : fmt::format(", though there is a GPU: {}. On a Jetson: sudo "
                                              "apt install nvidia-jetpack",
                                              printable(gpu))),
        Code::ok};
  }
  return {"TensorRT", DoctorVerdict::fine, fmt::format("{} for {}", device->library, device->gpu),
          Code::ok};
}

}  // namespace engram
