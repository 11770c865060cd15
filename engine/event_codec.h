// The parts that payloads of events are made of; private to event*.cpp.
#pragma once

#include <string>
#include <vector>

#include "engine/byte_io.h"
#include "engine/event.h"

namespace engram::event_codec {

Status broken(const char* what);  // "a journal record ..."

inline void put_text(ByteWriter& bytes, const std::string& text) {
  bytes.put(std::uint8_t(text.size()));
  bytes.put_bytes(as_bytes(text));
}
inline std::string take_text(ByteReader& reader) {
  return as_text(reader.take_bytes(reader.take<std::uint8_t>()));
}

Result<std::vector<std::byte>> encode_batch(const SampleBatch& batch);
Result<SampleBatch> parse_batch(ByteReader reader);  // all that is left in it
Result<Event> parse_unlearn(ByteReader reader);
Result<Event> parse_relabel(ByteReader reader);
Result<Event> parse_rename(ByteReader reader);

}  // namespace engram::event_codec
