#include <filesystem>

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fmt/format.h>

#include "engine/device_plan.h"
#include "engine/memory_plan.h"
#include "platform/arena.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/doctor/doctor.h"

namespace engram {
namespace {

namespace fs = std::filesystem;
using DoctorVerdict = Finding::Verdict;

// The disk that holds a file system, or its parent if that is a partition: /sys/dev/block/179:1 is a
// link to .../mmcblk0/mmcblk0p1. A card says SD in device/type, soldered memory MMC.
bool is_on_sd_card(const std::string& root, dev_t device) {
  const std::string entry =
      fmt::format("{}/sys/dev/block/{}:{}", root, major(device), minor(device));
  std::error_code error;
  const fs::path disk = fs::canonical(entry, error);
  if (error) return false;
  for (const fs::path& folder : {disk, disk.parent_path()}) {
    if (first_line((folder / "device/type").string()) == "SD") return true;
  }
  return false;
}

}  // namespace

Result<StorageFacts> storage_facts(const std::string& home, const std::string& root) {
  fs::path path = fs::path(home).lexically_normal();
  std::error_code error;
  while (!fs::exists(path, error) && path.has_relative_path()) path = path.parent_path();
  if (path.empty()) path = ".";
  struct statvfs system {};
  struct stat file {};
  if (statvfs(path.c_str(), &system) != 0 || stat(path.c_str(), &file) != 0) {
    return Status(Code::io_failure,
                  fmt::format("{}: the file system does not answer.", printable(home)));
  }
  StorageFacts facts;
  facts.path = path.string();
  facts.free_bytes = std::int64_t(system.f_bavail) * std::int64_t(system.f_frsize);
  facts.is_read_only = (system.f_flag & ST_RDONLY) != 0;
  facts.is_writable = access(path.c_str(), W_OK) == 0;
  facts.is_sd_card = is_on_sd_card(root, file.st_dev);
  return facts;
}

Finding storage_finding(const StorageFacts& facts, std::int64_t needed_bytes) {
  const std::string where = printable(facts.path);
  if (facts.is_read_only || !facts.is_writable) {
    return {
        "storage", DoctorVerdict::failure,
        fmt::format("{} cannot be written{}: nothing can be learned here. Choose another folder "
                    "with --home or ENGRAM_HOME",
                    where, facts.is_read_only ? " (the file system is read-only)" : ""),
        Code::io_failure};
  }
  const std::string free = bytes_text(facts.free_bytes) + " free";
  if (facts.free_bytes < needed_bytes) {
    return {"storage", DoctorVerdict::failure,
            fmt::format("{}: {}, and a state may take {} while it is saved. Make room, or choose "
                        "another folder with --home",
                        where, free, bytes_text(needed_bytes)),
            Code::io_failure};
  }
  if (facts.is_sd_card) {
    return {"storage", DoctorVerdict::remark,
            fmt::format("{}: {}, on an SD card. States survive a power cut, cards wear out: keep a "
                        "copy, or use an SSD",
                        where, free),
            Code::ok};
  }
  return {"storage", DoctorVerdict::fine, fmt::format("{}: {}", where, free), Code::ok};
}

Finding memory_finding(const std::string& what, std::int64_t planned_bytes,
                       std::int64_t machine_bytes, std::int64_t available_bytes) {
  const std::string text =
      fmt::format("{} takes {} at most; {} of {} are available", what, bytes_text(planned_bytes),
                  bytes_text(available_bytes), bytes_text(machine_bytes));
  if (planned_bytes > machine_bytes) {
    return {"memory", DoctorVerdict::failure, text + ". Choose fewer hidden units: engram plan",
            Code::out_of_memory};
  }
  if (available_bytes > 0 && planned_bytes > available_bytes) {
    return {"memory", DoctorVerdict::warning, text + ". Close other programs", Code::ok};
  }
  return {"memory", DoctorVerdict::fine, text, Code::ok};
}

Finding memory_finding(const std::string& what, const LearnerConfig& config, int classes,
                       const std::optional<DeviceInfo>& device) {
  const std::int64_t planned = plan(config, classes).total();
  if (!device) return memory_finding(what, planned, machine_memory(), available_memory());
  return memory_finding(fmt::format("{} on {}", what, device->name),
                        planned + staging_bytes(config, classes), device->memory_bytes,
                        device->free_bytes);
}

}  // namespace engram
