// A state in one file, to carry what a device learned to another: export, import, merge.
//
// The file is a snapshot file (engine/README.md) of the whole state, with its audit trail in the
// section `audit`: which device, in which order by its own sequence numbers, how many samples of what,
// and the digest of the statistics. No clock is asked: a device's clock may be wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/store.h"
#include "platform/status.h"

namespace engram {

struct AuditEntry {
  std::string device;         // a name that the user gave, or the host's
  std::uint64_t state = 0;    // id of the state that did it
  std::int64_t sequence = 0;  // of the state, when it was done
  std::string what;           // created, exported, imported, merged
  std::int64_t samples = 0;   // of the state then
  int classes = 0;
  std::string digest;  // of the statistics then
};

// The state as it is now, in one file, written beside and renamed. The store may be in use by this
// thread only. `device` is written into the trail of the file.
Status export_state(Store& store, const std::string& file, const std::string& device,
                    FileSystem& files = real_files());
// The same of a state on disk that nobody writes, or whose writer is elsewhere: read without a lock.
Status export_state(const std::string& directory, const std::string& file,
                    const std::string& device, FileSystem& files = real_files());
// A new state in `directory` from a file. Refused if there is a state already. All or nothing.
Status import_state(const std::string& file, const std::string& directory,
                    const std::string& device, FileSystem& files = real_files());
// What the file knows is added to an open state, exactly and durably, or nothing changes. Refused:
// another backbone, other weights or scale, a state that is in it already.
Result<EditReport> merge_state_file(Store& store, const std::string& file,
                                    const std::string& device);
// Who did what, oldest first.
Result<std::vector<AuditEntry>> audit_of_file(const std::string& file);

}  // namespace engram
