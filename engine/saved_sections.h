// Sections of a learner's snapshot, one by one: each has the size and the kind of values that its reader asks for. Whether
// they fit each other: saved_learner.h. All of them borrow from the snapshot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/snapshot.h"
#include "platform/status.h"

namespace engram {

// Encoded samples with a class each.
struct SavedSamples {
  std::span<const std::byte> rows;
  std::vector<std::int32_t> classes;
};

// bad_data: what is wrong with the file, and that it was not changed.
Status damaged(const SnapshotReader& reader, std::string what);

bool all_finite(std::span<const std::byte> floats);
// What sums of whole numbers in float are, and what may be cast to an int64.
bool all_whole(std::span<const std::byte> floats);

// The section of that name, if it has exactly that many numbers, all of them what `fits` asks or, for doubles, finite.
Result<std::span<const std::byte>> floats(const SnapshotReader& reader, const char* name,
                                          std::size_t count,
                                          bool (*fits)(std::span<const std::byte>) = all_finite);
Result<std::span<const std::byte>> doubles(const SnapshotReader& reader, const char* name,
                                           std::size_t count);

// Rows of `row_bytes` and, in another section, as many classes below `class_count`.
Result<SavedSamples> samples_of(const SnapshotReader& reader, const char* rows, const char* classes,
                                std::size_t row_bytes, std::size_t class_count);

// Numbers of `count` samples, ascending, above `before` and below `next`.
Result<std::vector<std::int64_t>> ids_of(const SnapshotReader& reader, const char* name,
                                         std::size_t count, std::int64_t before, std::int64_t next);

}  // namespace engram
