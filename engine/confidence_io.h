// A Confidence as bytes: section `confidence` of snapshots and readouts (engine/README.md).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engine/confidence.h"

namespace engram {

std::vector<std::byte> encode(const Confidence& confidence);
// Nothing: not what encode() writes. Strict: finite numbers, a table that does not fall.
std::optional<Confidence> parse_confidence(std::span<const std::byte> bytes);

}  // namespace engram
