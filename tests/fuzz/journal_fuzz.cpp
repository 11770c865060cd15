// The journal reader and the events in its records: any bytes; the same with all checksums put
// right; and each input as the payload of one event.
#include <cstring>

#include "engine/byte_io.h"
#include "engine/event.h"
#include "engine/journal.h"
#include "engine/journal_layout.h"
#include "platform/hash.h"
#include "tests/fuzz/fuzz_target.h"

using namespace engram;
using namespace engram::journal_layout;

namespace {

void put_checksum(std::vector<std::byte>& file, std::size_t from, std::size_t to) {
  const std::uint64_t sum = checksum64(std::span(file).subspan(from, to - from));
  std::memcpy(file.data() + to, &sum, sizeof(sum));
}

void seal(std::vector<std::byte>& file) {
  if (file.size() < kHeaderBytes) return;
  put_checksum(file, 0, kHeaderChecksumAt);
  for (std::size_t at = kHeaderBytes; file.size() - at >= kRecordHeaderBytes;) {
    put_checksum(file, at, at + kRecordChecksumAt);
    const std::size_t payload = ByteReader(std::span(file).subspan(at + 12)).take<std::uint32_t>();
    const std::size_t end = at + kRecordHeaderBytes + payload;
    if (end + kRecordTrailerBytes > file.size()) return;
    put_checksum(file, at, end);
    at = end + kRecordTrailerBytes;
  }
}

struct Encode {
  EncodedEvent operator()(const SampleBatch& batch) const { return encode(batch).value(); }
  EncodedEvent operator()(const ContinuedBatch& batch) const {
    return encode(batch.samples, StepPart::continues).value();
  }
  EncodedEvent operator()(const EndOfTask& end) const { return encode(end); }
  template <class Kind>
  EncodedEvent operator()(const Kind& edit) const {
    return encode(Edit(edit)).value();
  }
};

// An event that parses must be the one thing that encodes to these bytes.
void check_event(std::uint32_t kind, std::span<const std::byte> payload) {
  const Result<Event> event = parse_event(kind, payload);
  if (!event.ok()) return;
  const EncodedEvent again = std::visit(Encode{}, event.value());
  ENGRAM_CHECK(again.kind == kind);
  ENGRAM_CHECK(std::ranges::equal(again.payload, payload));
}

void check_journal(std::span<const std::byte> file) {
  const Result<JournalScan> scan = scan_journal(file, "input");
  if (!scan.ok()) return;
  ENGRAM_CHECK(scan->end + scan->torn == file.size());
  for (const JournalRecord& record : scan->records) check_event(record.kind, record.payload);
}

void append(ByteWriter& file, std::int64_t sequence, const EncodedEvent& event) {
  file.put(sequence);
  file.put(event.kind);
  file.put(std::uint32_t(event.payload.size()));
  file.put(std::uint64_t{0});
  file.put_bytes(event.payload);
  file.put(std::uint64_t{0});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  check_journal(bytes);
  std::vector<std::byte> sealed(bytes.begin(), bytes.end());
  seal(sealed);
  check_journal(sealed);
  for (const std::uint32_t kind : {1, 2, 3, 4, 5, 6, 7}) check_event(kind, bytes);
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  const SampleBatch batch{.labels = {"mug", "key", "mug"}, .rows = std::vector<std::byte>(12)};
  const EncodedEvent learned = encode(batch).value();
  const EncodedEvent ended = encode(EndOfTask{.lambda = 100, .digest = "5e1f"});
  const Outcome outcome{.lambda = 100, .digest = "5e1f"};
  const Outcome none{.lambda = 0, .digest = "5e1f"};
  const LearnedSamples samples{.ids = {1, 2, 3}, .batch = batch};
  const EncodedEvent edits[] = {encode(Edit(Relabel{outcome, "cup", samples})).value(),
                                encode(Edit(Rename{outcome, "cup", "key"})).value(),
                                encode(Edit(Unlearn{none, samples})).value()};
  ByteWriter file;
  file.put_bytes(as_bytes(kMagic));
  file.put(kVersion);
  file.pad_to(kHeaderBytes);
  append(file, 1, learned);
  append(file, 2, ended);
  append(file, 3, encode(batch, StepPart::continues).value());
  std::int64_t sequence = 4;
  for (const EncodedEvent& edit : edits) append(file, sequence++, edit);
  std::vector<std::byte> sealed = file.take();
  seal(sealed);
  ENGRAM_CHECK(scan_journal(sealed, "seed")->records.size() == 6);
  return {as_text(sealed),           as_text(learned.payload),  as_text(ended.payload),
          as_text(edits[0].payload), as_text(edits[1].payload), as_text(edits[2].payload)};
}
