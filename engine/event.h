// What the journal tells: the things that change a learner, in the order in which they happened.
//
//   kind  event         payload, little-endian
//   1     SampleBatch   u32 rows, u32 bytes per row, u32 labels; the labels (u8 length, bytes) in
//                       the order of their first row; per row u32 index of its label; the rows
//   2     EndOfTask     f64 lambda, u8 length and text of the digest of the statistics
// Other kinds belong to later versions: a program that does not know one must not skip it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/sample_batch.h"
#include "platform/status.h"

namespace engram {

struct EndOfTask {
  double lambda = 0;   // the choice: replaying does not search again
  std::string digest;  // Learner::digest() when the task ended, 0..255 bytes: what replay must give
  bool operator==(const EndOfTask&) const = default;
};

inline constexpr std::uint32_t kSampleBatchEvent = 1;
inline constexpr std::uint32_t kEndOfTaskEvent = 2;
using Event = std::variant<SampleBatch, EndOfTask>;

struct EncodedEvent {
  std::uint32_t kind = 0;
  std::vector<std::byte> payload;
};

// invalid_argument: no rows, rows that cannot be cut into equal parts, a label of 0 or of more than
// 255 bytes, or more than a record can hold.
Result<EncodedEvent> encode(const SampleBatch& batch);
EncodedEvent encode(const EndOfTask& end);
// Accepts only what encode writes, to the byte. bad_data: it is not. not_supported: unknown kind.
Result<Event> parse_event(std::uint32_t kind, std::span<const std::byte> payload);

}  // namespace engram
