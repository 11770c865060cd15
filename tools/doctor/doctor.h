// What `engram doctor` looks at, one finding each. Whatever is read from the machine's files is
// below `root`, so that a test can show another machine: "/" is this one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/config.h"
#include "platform/device.h"
#include "platform/status.h"
#include "tools/machine_state.h"

namespace engram {

class EngineLibrary;

struct Finding {
  enum class Verdict : std::uint8_t { fine, remark, warning, failure };

  std::string topic;  // "storage"
  Verdict verdict = Verdict::fine;
  std::string text;      // a sentence, or facts
  Code code = Code::ok;  // of a failure: the program's exit code
};
const char* name(Finding::Verdict verdict);  // "ok", "note", "warning", "FAILURE"

// ---- doctor_machine.cpp -------------------------------------------------------------------------
Finding machine_finding(const std::string& root);  // model, system, cores, memory
Finding processor_finding(const std::string& root);
Finding power_finding(const std::string& root);  // power mode, governor, temperature
// Clocks when the kernels have just run, and whether the machine slowed itself down meanwhile.
Finding speed_finding(const MachineState& before, const MachineState& after);
Finding clock_finding(std::int64_t now, std::int64_t program_written);  // Unix time
Finding camera_finding(const std::string& root);
Finding tensorrt_finding();  // of this build on this machine
// `library` of a build, or null; `gpu` that the driver sees, or empty.
Finding tensorrt_finding(EngineLibrary* library, const std::string& gpu);

// ---- doctor_storage.cpp -------------------------------------------------------------------------
struct StorageFacts {
  std::string path;  // that exists: the home folder or the nearest above it
  std::int64_t free_bytes = 0;
  bool is_read_only = false;
  bool is_writable = true;
  bool is_sd_card = false;
};
Result<StorageFacts> storage_facts(const std::string& home, const std::string& root);
Finding storage_finding(const StorageFacts& facts, std::int64_t needed_bytes);

// `planned_bytes` of `what` against the memory that programs may still take.
Finding memory_finding(const std::string& what, std::int64_t planned_bytes,
                       std::int64_t machine_bytes, std::int64_t available_bytes);

// Of a learner, where it computes: with what it brings there, against the GPU's own memory if there is
// one, as the learner itself will ask.
Finding memory_finding(const std::string& what, const LearnerConfig& config, int classes,
                       const std::optional<DeviceInfo>& device);

// First line of a file, or nothing. Strips the zero bytes of the device tree.
std::string first_line(const std::string& path);

}  // namespace engram
