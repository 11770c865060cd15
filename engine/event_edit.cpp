// Events that change what was learned before: unlearn, relabel, rename.
#include <algorithm>

#include "engine/event_codec.h"
#include "engine/lambda_range.h"

namespace engram {

using namespace event_codec;

namespace {

void put(ByteWriter& payload, const Outcome& outcome) {
  ENGRAM_CHECK(outcome.lambda == 0 || is_lambda(outcome.lambda));
  payload.put(outcome.lambda);
  put_short_text(payload, outcome.digest);
}

Status take(ByteReader& reader, Outcome& outcome) {
  outcome.lambda = reader.take<double>();
  outcome.digest = take_short_text(reader);
  if (reader.failed()) return broken("is too short for an edit");
  if (outcome.lambda != 0 && !is_lambda(outcome.lambda)) return broken("has an impossible lambda");
  return {};
}

Status take(ByteReader& reader, std::string& label) {
  label = take_short_text(reader);
  return reader.failed() || label.empty() ? broken("has a label of no bytes") : Status();
}

// u32 count, the ids, the samples.
Status put(ByteWriter& payload, const LearnedSamples& samples) {
  ENGRAM_CHECK(samples.ids.size() == samples.batch.size());
  ENGRAM_ASSIGN(const std::vector<std::byte> batch, encode_batch(samples.batch));
  payload.put(std::uint32_t(samples.size()));
  for (const std::int64_t id : samples.ids) payload.put(id);
  payload.put_bytes(batch);
  return check_payload(payload.bytes().size(), samples.size());
}

Status take(ByteReader& reader, LearnedSamples& samples) {
  const std::size_t count = reader.take<std::uint32_t>();
  if (reader.failed() || count == 0 || count > reader.left() / sizeof(std::int64_t)) {
    return broken("is too short for its samples");
  }
  samples.ids.resize(count);
  std::int64_t before = 0;
  for (std::int64_t& id : samples.ids) {
    id = reader.take<std::int64_t>();
    if (id <= before) return broken("has ids in an order that is never written");
    before = id;
  }
  ENGRAM_ASSIGN(samples.batch, parse_batch(reader));
  return samples.batch.size() == count ? Status() : broken("has ids that do not fit its samples");
}

struct Encoder {
  ByteWriter& payload;

  Status operator()(const Unlearn& edit) const {
    put(payload, edit.outcome);
    return put(payload, edit.samples);
  }
  Status operator()(const Relabel& edit) const {
    put(payload, edit.outcome);
    ENGRAM_TRY(put_label(payload, edit.label));
    return put(payload, edit.samples);
  }
  Status operator()(const Rename& edit) const {
    put(payload, edit.outcome);
    ENGRAM_TRY(put_label(payload, edit.from));
    return put_label(payload, edit.to);
  }
};

}  // namespace

Result<EncodedEvent> encode(const Edit& edit) {
  constexpr std::uint32_t kKinds[] = {kUnlearnEvent, kRelabelEvent, kRenameEvent};
  ByteWriter payload;
  ENGRAM_TRY(std::visit(Encoder{payload}, edit));
  return EncodedEvent{kKinds[edit.index()], payload.take()};
}

Result<Event> event_codec::parse_unlearn(ByteReader reader) {
  Unlearn edit;
  ENGRAM_TRY(take(reader, edit.outcome));
  ENGRAM_TRY(take(reader, edit.samples));
  return Event(std::move(edit));
}

Result<Event> event_codec::parse_relabel(ByteReader reader) {
  Relabel edit;
  ENGRAM_TRY(take(reader, edit.outcome));
  ENGRAM_TRY(take(reader, edit.label));
  ENGRAM_TRY(take(reader, edit.samples));
  const std::vector<std::string>& labels = edit.samples.batch.labels;
  if (std::find(labels.begin(), labels.end(), edit.label) != labels.end()) {
    return broken("gives a sample the label that it has");
  }
  return Event(std::move(edit));
}

Result<Event> event_codec::parse_rename(ByteReader reader) {
  Rename edit;
  ENGRAM_TRY(take(reader, edit.outcome));
  ENGRAM_TRY(take(reader, edit.from));
  ENGRAM_TRY(take(reader, edit.to));
  if (reader.left() != 0) return broken("has a wrong size for a new name");
  if (edit.from == edit.to) return broken("gives a class the name that it has");
  return Event(std::move(edit));
}

}  // namespace engram
