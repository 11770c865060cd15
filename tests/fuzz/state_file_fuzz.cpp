// Exported states: the input is the content of sections, which then carry the right checksums. What is
// accepted must be something that can be imported and added to: a merge with it, saved and loaded again.
#include "engine/state_file.h"

#include <algorithm>

#include "engine/byte_io.h"
#include "engine/snapshot_layout.h"
#include "platform/hash.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/snapshot_sections.h"
#include "tests/support/temp_directory.h"

using namespace engram;

namespace {

// u8 length and name, u32 length and content, for each section.
std::vector<std::byte> snapshot(std::span<const std::byte> input) {
  using namespace snapshot_layout;
  ByteReader reader(input);
  ByteWriter table, file;
  file.pad_to(kHeaderBytes);
  std::uint32_t count = 0;
  while (reader.left() > 0 && count < kMaxSections) {
    std::string name = as_text(reader.take_bytes(reader.take<std::uint8_t>()));
    const std::size_t length = reader.take<std::uint32_t>();
    const auto content = reader.take_bytes(std::min(length, reader.left()));
    name.resize(kNameBytes);
    file.pad_to(aligned(file.bytes().size()));
    table.put_bytes(as_bytes(name));
    table.put(std::uint64_t(file.bytes().size()));
    table.put(std::uint64_t(content.size()));
    table.put(checksum64(content));
    file.put_bytes(content);
    ++count;
  }
  ByteWriter header;
  header.put_bytes(as_bytes(kMagic));
  header.put(kVersion);
  header.put(count);
  header.put(std::uint64_t(file.bytes().size()));
  header.put_bytes(table.bytes());
  header.pad_to(kChecksumAt);
  header.put(checksum64(header.bytes()));
  std::vector<std::byte> bytes = file.take();
  std::copy(header.bytes().begin(), header.bytes().end(), bytes.begin());
  return bytes;
}

LearnerConfig small_config() {
  LearnerConfig config;
  config.backbone = std::string(64, 'a');
  config.features = 4;
  config.hidden = 100;
  config.feature_scale = 1;
  config.lambda_rule = LambdaRule::fixed;
  return config;
}

SampleBatch some_samples(const LearnerConfig& config) {
  SampleBatch batch{.labels = {"red", "blue", "red"}, .rows = {}};
  ByteWriter rows;
  for (int i = 0; i < 3 * 4; ++i) {
    if (config.arithmetic == Arithmetic::floating) {
      rows.put(float(i * 7 % 100) - 40.5f);
    } else {
      rows.put(std::int8_t(i * 7 % 100));
    }
  }
  batch.rows = rows.take();
  return batch;
}

// What another device learned, into the store: the file then has a section on merges.
void merge_another(Store& store, const std::string& name) {
  Store other = Store::create(name, store.learner().config()).value();
  ENGRAM_CHECK(other.learn(some_samples(other.learner().config())).ok());
  ENGRAM_CHECK(export_state(other, name + ".engram", "another").ok());
  ENGRAM_CHECK(merge_state_file(store, name + ".engram", "a device").ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::byte> file = snapshot(std::as_bytes(std::span(data, size)));
  const auto reader = SnapshotReader::parse(file, "input");
  if (!reader.ok()) return 0;
  const Result<AddedState> state = parse_state_file(reader.value());
  if (!state.ok()) return 0;
  const std::int64_t samples = state->learner.samples();
  ENGRAM_CHECK(state->history.audit.back().samples == samples);
  ENGRAM_CHECK(state->learner.last_id() >= samples);
  // Added to an empty learner of the same kind: the counts are there, and the trail.
  Learner learner = Learner::create(state->learner.config()).value();
  History history;
  std::vector<std::string> notes;
  ENGRAM_CHECK(check_goes_with("empty", learner, {}, state.value()).ok());
  if (!add_up("empty", learner, history, state.value(), notes).ok()) return 0;
  ENGRAM_CHECK(learner.samples() == samples);
  ENGRAM_CHECK(history.audit == state->history.audit);
  ENGRAM_CHECK(!check_goes_with("again", learner, history.origins, state.value()).ok());
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  const test::TempDirectory directory;
  std::vector<std::string> seeds;
  for (const std::string kind : {"factored", "dense", "dense with rows", "merged", "float"}) {
    LearnerConfig config = small_config();
    config.keep_features = kind != "dense";
    if (kind == "float") config.arithmetic = Arithmetic::floating;  // its hidden units are kept too
    const std::string name = directory / kind;
    Store store = Store::create(name, config).value();
    ENGRAM_CHECK(store.learn(some_samples(config)).ok());
    while (kind == "dense with rows" && store.learner().form() != Form::dense) {
      ENGRAM_CHECK(store.learn(some_samples(config)).ok());
    }
    if (kind == "merged") merge_another(store, directory / "another");
    ENGRAM_CHECK(store.end_task().ok());
    ENGRAM_CHECK(export_state(store, name + ".engram", "a device").ok());
    const SnapshotReader reader = SnapshotReader::open(name + ".engram").value();
    ENGRAM_CHECK(reader.has("merged") == (kind == "merged"));
    ENGRAM_CHECK(reader.has("kept_hidden") == (kind == "float"));
    ByteWriter seed;
    for (const std::string& section : test::section_names(name + ".engram")) {
      const auto content = reader.section(section).value();
      seed.put(std::uint8_t(section.size()));
      seed.put_bytes(as_bytes(section));
      seed.put(std::uint32_t(content.size()));
      seed.put_bytes(content);
    }
    const std::vector<std::byte> file = snapshot(seed.bytes());
    ENGRAM_CHECK(parse_state_file(SnapshotReader::parse(file, "seed").value()).ok());
    seeds.push_back(as_text(seed.bytes()));
  }
  return seeds;
}
