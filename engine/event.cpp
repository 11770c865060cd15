#include "engine/event.h"

#include <unordered_map>

#include <fmt/format.h>

#include "engine/byte_io.h"
#include "engine/event_codec.h"
#include "engine/journal.h"
#include "engine/label.h"
#include "engine/lambda_range.h"

namespace engram {

using namespace event_codec;

Status event_codec::broken(const char* what) {
  return Status(Code::bad_data, fmt::format("a journal record {}", what));
}

Status event_codec::put_label(ByteWriter& bytes, const std::string& label) {
  if (label.empty() || label.size() > kMaxLabelBytes) {
    return Status(
        Code::invalid_argument,
        fmt::format("A label has {} bytes where 1 to {} are allowed. Nothing was changed.",
                    label.size(), kMaxLabelBytes));
  }
  put_short_text(bytes, label);
  return {};
}

Status event_codec::check_payload(std::size_t bytes, std::size_t samples) {
  if (bytes <= kMaxJournalPayload) return {};
  return Status(Code::invalid_argument,
                fmt::format("{} samples are too many for one journal record ({} MB). Nothing was "
                            "changed; take fewer at a time.",
                            samples, kMaxJournalPayload >> 20));
}

Result<std::vector<std::byte>> event_codec::encode_batch(const SampleBatch& batch) {
  if (batch.size() == 0 || batch.rows.empty() || batch.rows.size() % batch.size() != 0) {
    return Status(Code::invalid_argument,
                  fmt::format("{} labels do not go with {} bytes of features. Nothing was changed.",
                              batch.size(), batch.rows.size()));
  }
  std::unordered_map<std::string, std::uint32_t> index;
  ByteWriter labels;
  ByteWriter of_rows;
  for (const std::string& label : batch.labels) {
    const auto [entry, is_new] = index.try_emplace(label, std::uint32_t(index.size()));
    if (is_new) ENGRAM_TRY(put_label(labels, label));
    of_rows.put(entry->second);
  }
  ENGRAM_TRY(check_payload(12 + labels.bytes().size() + of_rows.bytes().size() + batch.rows.size(),
                           batch.size()));
  ByteWriter payload;
  payload.put(std::uint32_t(batch.size()));
  payload.put(std::uint32_t(batch.rows.size() / batch.size()));
  payload.put(std::uint32_t(index.size()));
  payload.put_bytes(labels.bytes());
  payload.put_bytes(of_rows.bytes());
  payload.put_bytes(batch.rows);
  return payload.take();
}

Result<SampleBatch> event_codec::parse_batch(ByteReader reader) {
  const std::size_t rows = reader.take<std::uint32_t>();
  const std::size_t row_bytes = reader.take<std::uint32_t>();
  const std::size_t label_count = reader.take<std::uint32_t>();
  if (reader.failed() || rows == 0 || row_bytes == 0) return broken("holds no samples");
  // Also keeps the reservations below within the payload's own size.
  if (label_count == 0 || label_count > rows || rows > reader.left() / (row_bytes + 4)) {
    return broken("is too short for its samples");
  }
  std::vector<std::string> labels(label_count);
  std::unordered_map<std::string, std::size_t> seen;
  for (std::string& label : labels) {
    label = take_short_text(reader);
    if (label.empty()) return broken("has a label of no bytes");
    if (!seen.try_emplace(label, seen.size()).second) return broken("names a label twice");
  }
  SampleBatch batch;
  batch.labels.reserve(rows);
  std::size_t used = 0;  // labels met so far; they come in the order of their first row
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t label = reader.take<std::uint32_t>();
    if (reader.failed() || label > used || label >= label_count) {
      return broken("has labels in an order that is never written");
    }
    if (label == used) ++used;
    batch.labels.push_back(labels[label]);
  }
  if (used != label_count) return broken("has a label without samples");
  if (reader.left() != rows * row_bytes) return broken("has a size that does not fit its samples");
  const std::span<const std::byte> bytes = reader.take_bytes(rows * row_bytes);
  batch.rows.assign(bytes.begin(), bytes.end());
  return batch;
}

namespace {

Result<Event> parse_end_of_task(ByteReader reader) {
  EndOfTask end;
  end.lambda = reader.take<double>();
  end.digest = take_short_text(reader);
  if (reader.failed() || reader.left() != 0) return broken("has a wrong size for an end of task");
  if (!is_lambda(end.lambda)) return broken("has an impossible lambda");
  return Event(std::move(end));
}

}  // namespace

Result<EncodedEvent> encode(const SampleBatch& batch, StepPart part) {
  ENGRAM_ASSIGN(std::vector<std::byte> payload, encode_batch(batch));
  const bool begins = part == StepPart::begins;
  return EncodedEvent{begins ? kSampleBatchEvent : kContinuedBatchEvent, std::move(payload)};
}

EncodedEvent encode(const EndOfTask& end) {
  ENGRAM_CHECK(is_lambda(end.lambda));
  ByteWriter payload;
  payload.put(end.lambda);
  put_short_text(payload, end.digest);
  return {kEndOfTaskEvent, payload.take()};
}

Result<Event> parse_event(std::uint32_t kind, std::span<const std::byte> payload) {
  switch (kind) {
    case kSampleBatchEvent: {
      ENGRAM_ASSIGN(SampleBatch batch, parse_batch(ByteReader(payload)));
      return Event(std::move(batch));
    }
    case kEndOfTaskEvent:
      return parse_end_of_task(ByteReader(payload));
    case kContinuedBatchEvent: {
      ENGRAM_ASSIGN(SampleBatch batch, parse_batch(ByteReader(payload)));
      return Event(ContinuedBatch{std::move(batch)});
    }
    case kUnlearnEvent:
      return parse_unlearn(ByteReader(payload));
    case kRelabelEvent:
      return parse_relabel(ByteReader(payload));
    case kRenameEvent:
      return parse_rename(ByteReader(payload));
    default:
      return Status(
          Code::not_supported,
          fmt::format("a journal record is of kind {}, which only a newer version of Engram "
                      "knows. Nothing was changed; update Engram.",
                      kind));
  }
}

}  // namespace engram
