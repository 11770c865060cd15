// The readout file: the input is cut into the contents of its sections, which then carry the right
// checksums.
#include "engine/byte_io.h"
#include "engine/confidence_io.h"
#include "engine/judgement.h"
#include "engine/snapshot_layout.h"
#include "engine/store_files.h"
#include "platform/hash.h"
#include "tests/fuzz/fuzz_target.h"

using namespace engram;

namespace {

constexpr const char* kSections[] = {"store",   "config",   "readout",
                                     "classes", "weights",  "confidence",
                                     "probes",  "examples", "feature_weights"};

// The last four may be absent: they are where their content is empty.
constexpr std::size_t kAlways = 5;

// A snapshot file with these sections, as SnapshotWriter would write it.
std::vector<std::byte> snapshot(const std::vector<std::string>& contents) {
  const auto absent = [&](std::size_t i) { return i >= kAlways && contents[i].empty(); };
  std::uint32_t present = 0;
  for (std::size_t i = 0; i < contents.size(); ++i) present += absent(i) ? 0 : 1;
  using namespace snapshot_layout;
  ByteWriter header;
  ByteWriter file;
  file.pad_to(kHeaderBytes);
  header.put_bytes(as_bytes(kMagic));
  header.put(kVersion);
  header.put(present);
  ByteWriter table;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    if (absent(i)) continue;
    file.pad_to(aligned(file.bytes().size()));
    std::string name = kSections[i];
    name.resize(kNameBytes);
    table.put_bytes(as_bytes(name));
    table.put(std::uint64_t(file.bytes().size()));
    table.put(std::uint64_t(contents[i].size()));
    table.put(checksum64(as_bytes(contents[i])));
    file.put_bytes(as_bytes(contents[i]));
  }
  header.put(std::uint64_t(file.bytes().size()));
  header.put_bytes(table.bytes());
  header.pad_to(kChecksumAt);
  header.put(checksum64(header.bytes()));
  std::vector<std::byte> bytes = file.take();
  std::copy(header.bytes().begin(), header.bytes().end(), bytes.begin());
  return bytes;
}

// u16 length and bytes for each section.
std::vector<std::string> cut(std::span<const std::byte> input) {
  ByteReader reader(input);
  std::vector<std::string> contents;
  for (std::size_t i = 0; i < std::size(kSections); ++i) {
    const std::size_t length = reader.take<std::uint16_t>();
    contents.push_back(as_text(reader.take_bytes(std::min(length, reader.left()))));
  }
  return contents;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::byte> file = snapshot(cut(std::as_bytes(std::span(data, size))));
  const auto reader = SnapshotReader::parse(file, "input");
  ENGRAM_CHECK(reader.ok());
  const Result<ReadoutFile> readout = parse_readout(reader.value());
  if (!readout.ok()) return 0;
  const Readout& parsed = *readout->readout;
  ENGRAM_CHECK(parsed.weights.size() == parsed.classes.size() * std::size_t(parsed.hidden_units));
  const auto features = std::size_t(readout->config.features);
  ENGRAM_CHECK(parsed.feature_weights.empty() ||
               parsed.feature_weights.size() == parsed.classes.size() * features);
  const std::vector<float> scores(parsed.classes.size(), 0.5F);
  const Prediction said = judge(parsed, scores, 1.0F);
  ENGRAM_CHECK(said.probability >= 0 && said.probability <= 1);
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  LearnerConfig config;
  config.backbone = std::string(64, '0');
  config.features = 8;
  config.hidden = 100;
  ByteWriter mark;
  mark.put(std::uint64_t{1});
  mark.put(std::int64_t{2});
  mark.put(std::int64_t{2});
  mark.put(std::uint8_t{0});
  ByteWriter numbers;
  numbers.put(10.0);
  numbers.put(std::int64_t{5});
  numbers.put(std::uint32_t{2});
  numbers.put(std::uint32_t{100});
  Prequential said;
  said.add(summarise(std::vector<float>{0.5F, 0.1F}, 0, 1.0F));
  ByteWriter seed;
  for (const std::string& content :
       {as_text(mark.bytes()), to_json(config), as_text(numbers.bytes()),
        std::string("\3red\4blue"), std::string(800, '\0'), as_text(encode(Confidence{})),
        std::string(64 * 4 + 64 * 100 * 2, '\1'), as_text(said.save()),
        std::string(2 * 8 * 4, '\0')}) {
    seed.put(std::uint16_t(content.size()));
    seed.put_bytes(as_bytes(content));
  }
  const std::vector<std::byte> file = snapshot(cut(seed.bytes()));
  ENGRAM_CHECK(parse_readout(SnapshotReader::parse(file, "seed").value()).ok());
  return {as_text(seed.bytes())};
}
