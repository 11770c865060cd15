// What a readout judges by, in snapshots and readout files (engine/README.md): sections
// `confidence`, `probes` and `examples`. Files of earlier versions have none of them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engine/confidence.h"
#include "engine/readout.h"
#include "engine/snapshot.h"

namespace engram {

std::vector<std::byte> encode(const Confidence& confidence);
// Nothing: not what encode() writes. Strict: finite numbers, a table that does not fall.
std::optional<Confidence> parse_confidence(std::span<const std::byte> bytes);

// Probes where there are any, examples where there are any.
Status write_judging(SnapshotWriter& writer, const Readout& readout);
// Into a readout of known M. False: what is there makes no sense; absent sections are no fault.
Result<bool> read_judging(const SnapshotReader& reader, Readout& readout);

}  // namespace engram
