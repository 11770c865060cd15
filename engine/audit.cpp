#include "engine/audit.h"

#include <unistd.h>

#include <fmt/format.h>

#include "engine/byte_io.h"
#include "engine/label.h"

namespace engram {
namespace {

bool possible(const AuditEntry& entry) {
  return check_label(entry.device).ok() && check_label(entry.what).ok() &&
         check_label(entry.digest).ok() && entry.sequence >= 0 && entry.samples >= 0 &&
         entry.classes >= 0;
}

}  // namespace

Result<std::string> device_name(const std::string& given) {
  if (!given.empty()) {
    if (check_label(given).ok()) return given;
    return Status(Code::invalid_argument,
                  "The name of a device has 1 to 255 bytes of valid UTF-8 without control "
                  "characters. Nothing was changed.");
  }
  char host[256] = {};
  const bool known = ::gethostname(host, sizeof(host) - 1) == 0 && check_label(host).ok();
  return std::string(known ? host : "unnamed");
}

Status write_audit(SnapshotWriter& writer, std::span<const AuditEntry> trail) {
  if (trail.empty()) return {};
  ByteWriter bytes;
  for (const AuditEntry& entry : trail) {
    bytes.put(entry.state);
    bytes.put(entry.sequence);
    bytes.put(entry.samples);
    bytes.put(std::int32_t(entry.classes));
    for (const std::string& text : {entry.what, entry.device, entry.digest})
      put_short_text(bytes, text);
  }
  ENGRAM_TRY(writer.begin_section("audit"));
  return writer.write(bytes.bytes());
}

Result<std::vector<AuditEntry>> read_audit(const SnapshotReader& reader) {
  std::vector<AuditEntry> trail;
  if (!reader.has("audit")) return trail;
  ENGRAM_ASSIGN(const auto section, reader.section("audit"));
  ByteReader bytes(section);
  while (bytes.left() > 0) {
    AuditEntry entry;
    entry.state = bytes.take<std::uint64_t>();
    entry.sequence = bytes.take<std::int64_t>();
    entry.samples = bytes.take<std::int64_t>();
    entry.classes = bytes.take<std::int32_t>();
    for (std::string* text : {&entry.what, &entry.device, &entry.digest})
      *text = take_short_text(bytes);
    if (bytes.failed() || !possible(entry)) {
      return Status(Code::bad_data,
                    fmt::format("{}: its section 'audit' makes no sense. Nothing was changed.",
                                reader.path()));
    }
    trail.push_back(std::move(entry));
  }
  return trail;
}

}  // namespace engram
