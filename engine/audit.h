// Who did what with a state: the trail that goes with it from device to device.
//
// A state writes an entry when it is made, given away, taken over or added to. Entries of the states that
// went into it come before its own entry of that. Order is by sequence number of each state, not by
// clocks: a device's clock may be wrong.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/snapshot.h"
#include "platform/status.h"

namespace engram {

struct AuditEntry {
  std::string device;         // a name that the user gave, or the host's
  std::uint64_t state = 0;    // id of the state that did it
  std::int64_t sequence = 0;  // of the state, when it was done
  std::string what;           // created, exported, imported, merged, unmerged
  std::int64_t samples = 0;   // of the state then
  int classes = 0;
  std::string digest;  // of the statistics then
  bool operator==(const AuditEntry&) const = default;
};

namespace audit {
inline constexpr const char* kCreated = "created";
inline constexpr const char* kExported = "exported";  // into a file, or read by a merge
inline constexpr const char* kImported = "imported";  // from the state of the entry before
inline constexpr const char* kMerged = "merged";      // with the states of the entries before
inline constexpr const char* kUnmerged = "unmerged";  // no sample is left of a merge
}  // namespace audit

// `given`, or the host's name where it is empty. invalid_argument: no such thing can be a name.
Result<std::string> device_name(const std::string& given);

// Section `audit` of a snapshot; not written where there is nothing. Absent: an empty trail.
Status write_audit(SnapshotWriter& writer, std::span<const AuditEntry> trail);
Result<std::vector<AuditEntry>> read_audit(const SnapshotReader& reader);

}  // namespace engram
