// A state in one file, to carry what a device learned to another: export, import, merge.
//
// The file is a snapshot file (engine/README.md) of the whole state, with its audit trail in the
// section `audit`: which device, in which order by its own sequence numbers, how many samples of what,
// and the digest of the statistics. No clock is asked: a device's clock may be wrong.
//
// `device` names the device in the trail; empty: the host's name. Checksums find accidents in a file;
// who may have written it is for others to say (a bundle has a signature).
#pragma once

#include <string>
#include <vector>

#include "engine/adding_up.h"
#include "engine/audit.h"
#include "engine/store.h"
#include "platform/status.h"

namespace engram {

// The state as it is now, in one file, written beside and renamed: what was there under that name is
// replaced whole. The store may be in use by this thread only. Refused: something that is no plain
// file, and the files of a state.
Status export_state(Store& store, const std::string& file, const std::string& device,
                    FileSystem& files = real_files());
// The same of a state on disk that nobody writes, or whose writer is elsewhere: read without a lock.
Status export_state(const std::string& directory, const std::string& file,
                    const std::string& device, FileSystem& files = real_files());
// A new state in `directory` from a file, with the same samples under the same ids, and an id of its own.
// Refused if there is a state already. All or nothing.
Status import_state(const std::string& file, const std::string& directory,
                    const std::string& device, FileSystem& files = real_files());
// What the file knows is added to an open state, exactly and durably, and a task ends with it; or nothing
// changes. Refused: another backbone, other weights or scale, a state that is in it already, a file in
// which nothing was learned. report.changed: what came, by label. If only the last steps fail, behind
// the new snapshot, the message says that the merge is made and what is left to do.
Result<EditReport> merge_state_file(Store& store, const std::string& file,
                                    const std::string& device);
// Who did what, oldest first; the last entry is that of the export itself.
Result<std::vector<AuditEntry>> audit_of_file(const std::string& file);

// The file, checked in every byte: sections make sense, and statistics have the digest that the export
// noted. not_found; bad_data: damaged, or no exported state; not_supported: of a newer version.
Result<AddedState> read_state_file(const std::string& file);
Result<AddedState> parse_state_file(const SnapshotReader& reader);

// What a state does now, for its trail.
AuditEntry audit_entry(const std::string& device, const char* what, const StoreMark& mark,
                       const Learner& learner);

}  // namespace engram
