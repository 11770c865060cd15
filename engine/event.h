// What the journal tells: the things that change a learner, in the order in which they happened.
//
//   kind  event            payload, little-endian; a text is u8 length, bytes
//   1     SampleBatch      u32 rows, u32 bytes per row, u32 labels; the labels (texts) in the order
//                          of their first row; per row u32 index of its label; the rows.
//                          Begins a step: what one tap or one command taught
//   2     EndOfTask        f64 lambda, text: digest of the statistics
//   3     ContinuedBatch   as 1, but goes on with the step of the batch before
//   4     Unlearn          Outcome, ids; the samples as in 1
//   5     Relabel          Outcome, text: the new label, ids; the samples, with their old labels, as in 1
//   6     Rename           Outcome, text: the old label, text: the new one
//   Outcome: f64 lambda of the readout that followed (0: none), text: digest; ids: one i64 per row
//
// Each event is all that replay needs: a learner that has no sample any more can still take one
// back. Other kinds belong to later versions: a program that does not know one must not skip it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/sample_batch.h"
#include "platform/status.h"

namespace engram {

struct ContinuedBatch {
  SampleBatch samples;
  bool operator==(const ContinuedBatch&) const = default;
};

struct EndOfTask {
  double lambda = 0;   // the choice: replaying does not search again
  std::string digest;  // Learner::digest() when the task ended, 0..255 bytes: what replay must give
  bool operator==(const EndOfTask&) const = default;
};

// What an edit ended with. It is one record with the edit itself: nobody ever sees the one without
// the other.
struct Outcome {
  double lambda = 0;  // of the readout solved after it; 0: there is no readout after it
  std::string digest;
  bool operator==(const Outcome&) const = default;
};

struct Unlearn {
  Outcome outcome;
  LearnedSamples samples;
  bool operator==(const Unlearn&) const = default;
};

struct Relabel {
  Outcome outcome;
  std::string label;       // the new one
  LearnedSamples samples;  // with labels other than the new one
  bool operator==(const Relabel&) const = default;
};

// All samples of a class get another name; if there is a class of that name, the two become one.
struct Rename {
  Outcome outcome;
  std::string from, to;
  bool operator==(const Rename&) const = default;
};

inline constexpr std::uint32_t kSampleBatchEvent = 1;
inline constexpr std::uint32_t kEndOfTaskEvent = 2;
inline constexpr std::uint32_t kContinuedBatchEvent = 3;
inline constexpr std::uint32_t kUnlearnEvent = 4;
inline constexpr std::uint32_t kRelabelEvent = 5;
inline constexpr std::uint32_t kRenameEvent = 6;
using Event = std::variant<SampleBatch, EndOfTask, ContinuedBatch, Unlearn, Relabel, Rename>;
using Edit = std::variant<Unlearn, Relabel, Rename>;

struct EncodedEvent {
  std::uint32_t kind = 0;
  std::vector<std::byte> payload;
};

// Whether a batch begins a step, or goes on with the one before.
enum class StepPart : std::uint8_t { begins, continues };

// invalid_argument: no rows, rows that cannot be cut into equal parts, a label of 0 or of more than
// 255 bytes, or more than a record can hold.
Result<EncodedEvent> encode(const SampleBatch& batch, StepPart part = StepPart::begins);
Result<EncodedEvent> encode(const Edit& edit);
EncodedEvent encode(const EndOfTask& end);
// Accepts only what encode writes, to the byte. bad_data: it is not. not_supported: unknown kind.
Result<Event> parse_event(std::uint32_t kind, std::span<const std::byte> payload);

}  // namespace engram
