#include "engine/state_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "engine/store_load.h"
#include "platform/sentence.h"

namespace engram {
namespace {

constexpr std::int64_t kLargestNumber = std::int64_t{1} << 53;  // of an event or a sample

Status not_exported(const SnapshotReader& reader, const char* why) {
  return Status(Code::bad_data,
                fmt::format("{}: is no exported state: {}. Nothing was changed; `engram export` "
                            "makes such a file.",
                            reader.path(), why));
}

// Never over a folder, a device, or what another state lives from.
Status check_target(const std::string& file) {
  const std::filesystem::path path(file);
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  if (path.filename().empty() || kind == std::filesystem::file_type::directory) {
    return Status(Code::invalid_argument,
                  fmt::format("{}: is a folder; a state is exported into a file. Nothing was "
                              "written.",
                              file));
  }
  if (kind != std::filesystem::file_type::not_found &&
      kind != std::filesystem::file_type::regular) {
    return Status(Code::invalid_argument,
                  fmt::format("{}: is no plain file. Nothing was written.", file));
  }
  const StorePaths state(directory_of(file));
  for (const std::string& part : {state.snapshot, state.journal, state.readout, state.lock}) {
    if (path.filename() != std::filesystem::path(part).filename()) continue;
    if (!Store::exists(state.directory)) continue;
    return Status(Code::invalid_argument,
                  fmt::format("{}: belongs to the state in {}. Nothing was written; choose another "
                              "name.",
                              file, state.directory));
  }
  return {};
}

Status write_export(const std::string& file, const std::string& device, StoreMark mark,
                    const Learner& learner, History history, FileSystem& files) {
  ENGRAM_ASSIGN(const std::string name, device_name(device));
  ENGRAM_TRY(check_target(file));
  // Rows in a journal stay there; without kept ones, in the file are sums.
  if (!learner.config().keep_features) history.first_ids.clear();
  history.audit.push_back(audit_entry(name, audit::kExported, mark, learner));
  mark.digest = history.audit.back().digest;
  ENGRAM_ASSIGN(SnapshotWriter writer, SnapshotWriter::create(file, files));
  ENGRAM_TRY(write_state(writer, mark, learner, history));
  return writer.commit();
}

// The entry of the export, if it is of this very content.
Status check_export(const SnapshotReader& reader, const AddedState& state) {
  const AuditEntry& entry = state.history.audit.back();
  const AuditEntry found = audit_entry(entry.device, audit::kExported, state.mark, state.learner);
  // Float sums may be added in another order; earlier and later versions have other digests.
  const bool comparable = state.learner.config().arithmetic == Arithmetic::exact &&
                          entry.digest.rfind(Statistics::kDigestKind, 0) == 0;
  const bool same = found.state == entry.state && found.sequence == entry.sequence &&
                    found.samples == entry.samples && found.classes == entry.classes &&
                    state.mark.digest == entry.digest &&
                    (!comparable || found.digest == entry.digest);
  return same ? Status()
              : not_exported(reader, "what it holds is not what its audit trail says of it");
}

}  // namespace

AuditEntry audit_entry(const std::string& device, const char* what, const StoreMark& mark,
                       const Learner& learner) {
  return {device,
          mark.state,
          mark.sequence,
          what,
          learner.samples(),
          int(learner.classes().size()),
          learner.digest()};
}

Result<AddedState> parse_state_file(const SnapshotReader& reader) {
  ENGRAM_ASSIGN(History history, read_history(reader));
  if (history.audit.empty() || history.audit.back().what != audit::kExported) {
    return not_exported(reader, "its audit trail does not end with an export");
  }
  ENGRAM_ASSIGN(StoreMark mark, read_mark(reader));
  ENGRAM_ASSIGN(Learner learner, Learner::load(reader));
  // Ids and events go on from these numbers.
  std::int64_t last = history.first_ids.empty() ? 0 : history.first_ids.back();
  for (const MergedState& merged : history.merged) last = std::max(last, merged.last_id);
  if (learner.last_id() > kLargestNumber || mark.sequence > kLargestNumber ||
      last > learner.last_id()) {
    return not_exported(reader, "its numbers of samples and events make no sense");
  }
  AddedState state{reader.path(), std::move(learner), std::move(mark), std::move(history)};
  ENGRAM_TRY(check_export(reader, state));
  return state;
}

Result<AddedState> read_state_file(const std::string& file) {
  ENGRAM_ASSIGN(const SnapshotReader reader, SnapshotReader::open(file));
  return parse_state_file(reader);
}

Status export_state(Store& store, const std::string& file, const std::string& device,
                    FileSystem& files) {
  return write_export(file, device, store.mark(), store.learner(), store.history(), files);
}

Status export_state(const std::string& directory, const std::string& file,
                    const std::string& device, FileSystem& files) {
  if (!Store::exists(directory)) {
    return Status(Code::not_found,
                  fmt::format("{}: holds no state yet. Nothing was written.", directory));
  }
  ENGRAM_ASSIGN(LoadedStore loaded, load_store(StorePaths(directory), LoadCheck::none));
  return write_export(file, device, loaded.mark, loaded.learner, std::move(loaded.history), files);
}

Status import_state(const std::string& file, const std::string& directory,
                    const std::string& device, FileSystem& files) {
  if (Store::exists(directory)) {
    return Status(
        Code::invalid_argument,
        fmt::format("{}: holds a state already. Nothing was changed; `engram merge` makes "
                    "one from both, or choose another directory.",
                    directory));
  }
  ENGRAM_ASSIGN(const std::string name, device_name(device));
  ENGRAM_ASSIGN(AddedState state, read_state_file(file));
  state.history.origins = origins_of(state.mark, state.history);
  return Store::create(directory, std::move(state.learner), std::move(state.history),
                       {name, audit::kImported}, files)
      .status();
}

Result<EditReport> merge_state_file(Store& store, const std::string& file,
                                    const std::string& device) {
  ENGRAM_ASSIGN(const AddedState other, read_state_file(file));
  return store.merge(other, device);
}

Result<std::vector<AuditEntry>> audit_of_file(const std::string& file) {
  ENGRAM_ASSIGN(const SnapshotReader reader, SnapshotReader::open(file));
  ENGRAM_ASSIGN(std::vector<AuditEntry> trail, read_audit(reader));
  if (trail.empty() || trail.back().what != audit::kExported) {
    return not_exported(reader, "its audit trail does not end with an export");
  }
  return trail;
}

}  // namespace engram
