#include "engine/store_history.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "engine/byte_io.h"
#include "engine/store_files.h"

namespace engram {
namespace {

// Follows the records of a journal, sample by sample.
class Follower {
 public:
  explicit Follower(std::int64_t last_id) : last_id_(last_id) {}

  void operator()(const SampleBatch& batch) {
    for (std::size_t i = 0; i < batch.size(); ++i) samples_.ids.push_back(++last_id_);
    auto& [labels, rows] = samples_.batch;
    labels.insert(labels.end(), batch.labels.begin(), batch.labels.end());
    rows.insert(rows.end(), batch.rows.begin(), batch.rows.end());
  }
  void operator()(const ContinuedBatch& batch) { (*this)(batch.samples); }
  void operator()(const EndOfTask&) {}
  void operator()(const Unlearn& edit) {
    samples_ = selected(samples_, [&](std::int64_t id, const std::string&) {
      return !std::binary_search(edit.samples.ids.begin(), edit.samples.ids.end(), id);
    });
  }
  void operator()(const Relabel& edit) {
    for (const std::int64_t id : edit.samples.ids) {
      const auto at = std::lower_bound(samples_.ids.begin(), samples_.ids.end(), id);
      if (at == samples_.ids.end() || *at != id) continue;  // older than the snapshot
      samples_.batch.labels[std::size_t(at - samples_.ids.begin())] = edit.label;
    }
  }
  void operator()(const Rename& edit) {
    std::replace(samples_.batch.labels.begin(), samples_.batch.labels.end(), edit.from, edit.to);
  }

  LearnedSamples take() { return std::move(samples_); }

 private:
  std::int64_t last_id_;
  LearnedSamples samples_;
};

Status write_merged(SnapshotWriter& writer, const std::vector<MergedState>& merged) {
  ByteWriter bytes;
  for (const MergedState& state : merged) {
    bytes.put(state.origin);
    bytes.put(state.first_id);
    bytes.put(state.last_id);
  }
  ENGRAM_TRY(writer.begin_section("merged"));
  return writer.write(bytes.bytes());
}

}  // namespace

void History::drop_lost_steps(const Learner& learner) {
  const std::span<const std::int64_t> ids = learner.kept_ids();
  std::vector<std::int64_t> left;
  for (auto first = first_ids.begin(); first != first_ids.end(); ++first) {
    const auto sample = std::lower_bound(ids.begin(), ids.end(), *first);
    const bool is_last = std::next(first) == first_ids.end();
    const bool has_sample = sample != ids.end() && (is_last || *sample < *std::next(first));
    if (is_last || (has_sample && *first > learner.sums_only())) left.push_back(*first);
  }
  first_ids = std::move(left);
}

void History::taken_back(const StoreMark& mark, const Learner& learner, const std::string& digest) {
  const std::span<const std::int64_t> ids = learner.kept_ids();
  const auto is_gone = [&](const MergedState& state) {
    const auto sample = std::lower_bound(ids.begin(), ids.end(), state.first_id);
    return sample == ids.end() || *sample > state.last_id;
  };
  if (std::none_of(merged.begin(), merged.end(), is_gone)) return;
  for (const MergedState& state : merged) {
    if (is_gone(state)) std::erase(origins, state.origin);
  }
  std::erase_if(merged, is_gone);
  const auto merge = std::find_if(audit.rbegin(), audit.rend(), [&](const AuditEntry& entry) {
    return entry.state == mark.state && entry.what == audit::kMerged;
  });
  audit.push_back({merge == audit.rend() ? "unnamed" : merge->device, mark.state, mark.sequence,
                   audit::kUnmerged, learner.samples(), int(learner.classes().size()), digest});
}

Status write_history(SnapshotWriter& writer, const History& history) {
  ByteWriter bytes;
  bytes.put(std::uint64_t(history.origins.size()));
  for (const std::uint64_t origin : history.origins) bytes.put(origin);
  for (const std::int64_t id : history.first_ids) bytes.put(id);
  ENGRAM_TRY(writer.begin_section("history"));
  ENGRAM_TRY(writer.write(bytes.bytes()));
  if (!history.merged.empty()) ENGRAM_TRY(write_merged(writer, history.merged));
  return write_audit(writer, history.audit);
}

Result<History> read_history(const SnapshotReader& reader) {
  History history;
  ENGRAM_ASSIGN(history.audit, read_audit(reader));
  if (!reader.has("history")) return history;
  ENGRAM_ASSIGN(const auto section, reader.section("history"));
  const auto impossible = [&](const char* section) {
    return Status(Code::bad_data,
                  fmt::format("{}: its section '{}' makes no sense. Nothing was changed.",
                              reader.path(), section));
  };
  ByteReader bytes(section);
  const auto origins = bytes.take<std::uint64_t>();
  if (bytes.failed() || bytes.left() % 8 != 0 || origins > bytes.left() / 8)
    return impossible("history");
  for (std::uint64_t i = 0; i < origins; ++i)
    history.origins.push_back(bytes.take<std::uint64_t>());
  while (bytes.left() > 0) {
    const auto id = bytes.take<std::int64_t>();
    if (id <= (history.first_ids.empty() ? 0 : history.first_ids.back()))
      return impossible("history");
    history.first_ids.push_back(id);
  }
  if (!reader.has("merged")) return history;
  ENGRAM_ASSIGN(const auto merged, reader.section("merged"));
  for (ByteReader states(merged); states.left() > 0;) {
    MergedState state;
    state.origin = states.take<std::uint64_t>();
    state.first_id = states.take<std::int64_t>();
    state.last_id = states.take<std::int64_t>();
    const auto& all = history.origins;
    const bool is_origin = std::find(all.begin(), all.end(), state.origin) != all.end();
    const bool is_range = state.first_id > 0 && state.first_id <= state.last_id;
    if (states.failed() || !is_origin || !is_range) return impossible("merged");
    history.merged.push_back(state);
  }
  return history;
}

Status apply_edit(Learner& learner, const Edit& edit) {
  struct Apply {
    Learner& learner;
    Status operator()(const Unlearn& e) const { return learner.unlearn(e.samples); }
    Status operator()(const Relabel& e) const { return learner.relabel(e.samples, e.label); }
    Status operator()(const Rename& e) const { return learner.rename(e.from, e.to); }
  };
  return std::visit(Apply{learner}, edit);
}

std::optional<double> readout_after(const JournalRecord& record) {
  switch (record.kind) {
    case kEndOfTaskEvent:
    case kUnlearnEvent:
    case kRelabelEvent:
    case kRenameEvent:
      return ByteReader(record.payload).take<double>();  // all of them begin with it
    default:
      return std::nullopt;
  }
}

Result<LearnedSamples> samples_in(const JournalScan& scan, std::int64_t after,
                                  std::int64_t last_id) {
  Follower follower(last_id);
  for (const JournalRecord& record : scan.records) {
    if (record.sequence <= after) continue;
    ENGRAM_ASSIGN(const Event event, parse_event(record.kind, record.payload));
    std::visit(follower, event);
  }
  return follower.take();
}

std::vector<Step> steps_of(const History& history, const LearnedSamples& samples,
                           std::int64_t sums_only) {
  std::vector<Step> steps;
  const std::vector<std::int64_t>& firsts = history.first_ids;
  auto current = firsts.end();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::int64_t id = samples.ids[i];
    const auto step = std::upper_bound(firsts.begin(), firsts.end(), id);  // behind its own
    if (step == firsts.begin() || *std::prev(step) <= sums_only) continue;
    if (steps.empty() || step != current) {
      const std::int64_t first = *std::prev(step);
      const bool is_merge =
          std::any_of(history.merged.begin(), history.merged.end(),
                      [&](const MergedState& state) { return state.first_id == first; });
      steps.push_back({.first_id = id, .classes = {}, .is_merge = is_merge});
      current = step;
    }
    Step& last = steps.back();
    last.last_id = id;
    ++last.samples;
    const std::string& label = samples.batch.labels[i];
    const auto known = std::find_if(last.classes.begin(), last.classes.end(),
                                    [&](const ClassInfo& info) { return info.label == label; });
    if (known != last.classes.end()) {
      ++known->samples;
    } else {
      last.classes.push_back({label, 1});
    }
  }
  return steps;
}

}  // namespace engram
