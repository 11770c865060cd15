// The parts that payloads of events are made of; private to event*.cpp.
#pragma once

#include <string>
#include <vector>

#include "engine/byte_io.h"
#include "engine/event.h"

namespace engram::event_codec {

Status broken(const char* what);  // "a journal record ..."

// invalid_argument: it has not 1 to 255 bytes.
Status put_label(ByteWriter& bytes, const std::string& label);
// invalid_argument: more than a record can hold.
Status check_payload(std::size_t bytes, std::size_t samples);
Result<std::vector<std::byte>> encode_batch(const SampleBatch& batch);
Result<SampleBatch> parse_batch(ByteReader reader);  // all that is left in it
Result<Event> parse_unlearn(ByteReader reader);
Result<Event> parse_relabel(ByteReader reader);
Result<Event> parse_rename(ByteReader reader);

}  // namespace engram::event_codec
