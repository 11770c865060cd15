// The files of a store: their names, the mark that ties them together, and the readout file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/config.h"
#include "engine/learner.h"
#include "engine/readout.h"
#include "engine/snapshot.h"
#include "engine/store_history.h"
#include "platform/status.h"

namespace engram {

struct StorePaths {
  explicit StorePaths(const std::string& directory);
  std::string directory, snapshot, journal, readout, lock;
};

// Section `store` of snapshot and readout.
struct StoreMark {
  std::uint64_t state = 0;    // drawn at create: files of two states are not mixed up
  std::int64_t sequence = 0;  // of the last event in the file
  std::int64_t ended = 0;     // of the last end of a task; 0: none
  std::string digest;         // Learner::digest() at that sequence number
};
Status write_mark(SnapshotWriter& writer, const StoreMark& mark);
Result<StoreMark> read_mark(const SnapshotReader& reader);

// The sections of a snapshot of a state.
Status write_state(SnapshotWriter& writer, const StoreMark& mark, const Learner& learner,
                   const History& history);

struct ReadoutFile {
  StoreMark mark;
  LearnerConfig config;
  std::shared_ptr<const Readout> readout;
};
// The sections of a readout file: store, config, readout, classes, weights, feature_weights, and what it
// judges by.
Status write_readout(SnapshotWriter& writer, const StoreMark& mark, const LearnerConfig& config,
                     const Readout& readout);
Result<ReadoutFile> parse_readout(const SnapshotReader& reader);
// not_found, bad_data or not_supported, as SnapshotReader::open; what to do is for the caller to say.
Result<ReadoutFile> load_readout(const StorePaths& paths);

}  // namespace engram
