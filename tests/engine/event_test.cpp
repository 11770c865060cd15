#include "engine/event.h"

#include <cstring>
#include <limits>

#include "engine/byte_io.h"
#include "engine/journal.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"

namespace engram {

namespace {

SampleBatch batch_of(std::vector<std::string> labels, std::size_t row_bytes) {
  SampleBatch batch{.labels = std::move(labels), .rows = {}};
  for (std::size_t i = 0; i < batch.labels.size() * row_bytes; ++i)
    batch.rows.push_back(std::byte(i));
  return batch;
}

LearnedSamples learned(std::vector<std::int64_t> ids, std::vector<std::string> labels) {
  return {.ids = std::move(ids), .batch = batch_of(std::move(labels), 4)};
}

// One of each kind of edit.
std::vector<Edit> edits() {
  const Outcome outcome{.lambda = 3, .digest = "5e1f"};
  return {Unlearn{outcome, learned({2, 3, 70}, {"mug", "key", "mug"})},
          Unlearn{{.lambda = 0, .digest = ""}, learned({1}, {"mug"})},
          Relabel{outcome, "cup", learned({5, 6}, {"mug", "key"})}, Rename{outcome, "mug", "cup"}};
}

Code refusal(std::uint32_t kind, std::span<const std::byte> payload) {
  return parse_event(kind, payload).status().code();
}

}  // namespace

TEST_CASE("a learned batch comes back as it was", "[engine][event]") {
  const SampleBatch batch = batch_of({"mug", "two words", "mug", "Schlüssel/Bund", "mug"}, 7);
  const EncodedEvent encoded = encode(batch).value();
  REQUIRE(std::get<SampleBatch>(parse_event(encoded.kind, encoded.payload).value()) == batch);
}

TEST_CASE("an end of a task comes back as it was", "[engine][event]") {
  const EndOfTask end{.lambda = 1e-8, .digest = "0123456789abcdef"};
  const EncodedEvent encoded = encode(end);
  REQUIRE(std::get<EndOfTask>(parse_event(encoded.kind, encoded.payload).value()) == end);
}

TEST_CASE("a batch that goes on with a step comes back as one", "[engine][event]") {
  const SampleBatch batch = batch_of({"mug", "key"}, 3);
  const EncodedEvent encoded = encode(batch, StepPart::continues).value();
  REQUIRE(encoded.kind == kContinuedBatchEvent);
  REQUIRE(encoded.payload == encode(batch).value().payload);
  REQUIRE(std::get<ContinuedBatch>(parse_event(3, encoded.payload).value()).samples == batch);
}

TEST_CASE("an edit comes back as it was", "[engine][event]") {
  for (const Edit& edit : edits()) {
    const EncodedEvent encoded = encode(edit).value();
    const Event event = parse_event(encoded.kind, encoded.payload).value();
    std::visit(
        [&](const auto& one) { REQUIRE(std::get<std::decay_t<decltype(one)>>(event) == one); },
        edit);
  }
}

TEST_CASE("edits that are never written are refused", "[engine][event]") {
  const auto refused = [](const Edit& edit, const char* why) {
    const EncodedEvent event = encode(edit).value();
    return test::says(parse_event(event.kind, event.payload).status(), why);
  };
  const Outcome outcome{.lambda = 1, .digest = ""};
  CHECK(refused(Unlearn{outcome, learned({3, 3}, {"a", "a"})}, "ids in an order"));
  CHECK(refused(Unlearn{outcome, learned({3, 2}, {"a", "a"})}, "ids in an order"));
  CHECK(refused(Unlearn{outcome, learned({0, 2}, {"a", "a"})}, "ids in an order"));
  CHECK(refused(Relabel{outcome, "a", learned({1, 2}, {"b", "a"})}, "the label that it has"));
  CHECK(refused(Rename{outcome, "a", "a"}, "the name that it has"));
  for (const double lambda : {-1.0, 1e-50, 1e39, std::numeric_limits<double>::quiet_NaN()}) {
    for (const Edit& edit : edits()) {
      EncodedEvent event = encode(edit).value();
      std::memcpy(event.payload.data(), &lambda, sizeof lambda);
      CHECK(test::says(parse_event(event.kind, event.payload).status(), "impossible lambda"));
    }
  }
  CHECK(encode(Edit(Rename{outcome, "", "b"})).status().code() == Code::invalid_argument);
  CHECK(encode(Edit(Rename{outcome, "a", std::string(256, 'x')})).status().code() ==
        Code::invalid_argument);
  CHECK(encode(Edit(Unlearn{})).status().code() == Code::invalid_argument);
}

TEST_CASE("a lambda that no readout can have is refused", "[engine][event]") {
  for (const double lambda : {0.0, -1.0, 1e-50, 1e39}) {
    EncodedEvent event = encode(EndOfTask{.lambda = 1, .digest = "abc"});
    std::memcpy(event.payload.data(), &lambda, sizeof lambda);
    REQUIRE(test::says(parse_event(event.kind, event.payload).status(), "impossible lambda"));
  }
}

TEST_CASE("a batch that cannot be journalled is refused", "[engine][event]") {
  REQUIRE(encode(SampleBatch{}).status().code() == Code::invalid_argument);
  REQUIRE(encode(batch_of({"a", "b"}, 0)).status().code() == Code::invalid_argument);
  REQUIRE(encode(batch_of({""}, 1)).status().code() == Code::invalid_argument);
  REQUIRE(encode(batch_of({std::string(256, 'x')}, 1)).status().code() == Code::invalid_argument);
  SampleBatch uneven = batch_of({"a", "b"}, 3);
  uneven.rows.pop_back();
  REQUIRE(encode(uneven).status().code() == Code::invalid_argument);
  const auto large = encode(batch_of({"a"}, kMaxJournalPayload));
  REQUIRE(test::says(large.status(), "1 samples are too many for one journal record (64 MB)"));
}

TEST_CASE("an event of a later version is not skipped", "[engine][event]") {
  const auto unknown = parse_event(7, {});
  REQUIRE(unknown.status().code() == Code::not_supported);
  REQUIRE(test::says(unknown.status(), "newer version"));
}

TEST_CASE("every cut of an event is refused, and every byte too many", "[engine][event]") {
  std::vector<EncodedEvent> events{encode(batch_of({"mug", "key", "mug"}, 4)).value(),
                                   encode(EndOfTask{.lambda = 2, .digest = "abc"})};
  for (const Edit& edit : edits()) events.push_back(encode(edit).value());
  for (EncodedEvent& event : events) {
    for (std::size_t size = 0; size < event.payload.size(); ++size) {
      REQUIRE(refusal(event.kind, std::span(event.payload).first(size)) == Code::bad_data);
    }
    event.payload.push_back({});
    REQUIRE(refusal(event.kind, event.payload) == Code::bad_data);
  }
}

TEST_CASE("only what encode writes is accepted", "[engine][event]") {
  const auto payload = [](std::vector<std::string> labels, std::vector<std::uint32_t> of_rows) {
    ByteWriter bytes;
    bytes.put(std::uint32_t(of_rows.size()));
    bytes.put(std::uint32_t{1});
    bytes.put(std::uint32_t(labels.size()));
    for (const std::string& label : labels) {
      bytes.put(std::uint8_t(label.size()));
      bytes.put_bytes(as_bytes(label));
    }
    for (const std::uint32_t label : of_rows) bytes.put(label);
    bytes.pad_to(bytes.bytes().size() + of_rows.size());
    return bytes.take();
  };
  REQUIRE(refusal(1, payload({"a", "b"}, {0, 1, 0})) == Code::ok);
  REQUIRE(refusal(1, payload({"a", "b"}, {1, 0})) == Code::bad_data);  // not in order of first rows
  REQUIRE(refusal(1, payload({"a", "b"}, {0, 0})) == Code::bad_data);  // b has no sample
  REQUIRE(refusal(1, payload({"a", "a"}, {0, 1})) == Code::bad_data);
  REQUIRE(refusal(1, payload({"a"}, {0, 1})) == Code::bad_data);  // no such label
  REQUIRE(refusal(1, payload({"", "b"}, {0, 1})) == Code::bad_data);
  REQUIRE(refusal(1, payload({}, {})) == Code::bad_data);

  for (const double lambda : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()}) {
    ByteWriter bytes;
    bytes.put(lambda);
    bytes.put(std::uint8_t{0});
    REQUIRE(refusal(2, bytes.bytes()) == Code::bad_data);
  }
}

}  // namespace engram
