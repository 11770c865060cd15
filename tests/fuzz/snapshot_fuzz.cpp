// The snapshot reader: any bytes, and any bytes whose header carries the right checksum (or else
// nearly every mutation would stop at the first check).
#include <cstring>

#include "engine/byte_io.h"
#include "engine/snapshot.h"
#include "engine/snapshot_layout.h"
#include "platform/hash.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/temp_directory.h"

namespace {

void read_all(std::span<const std::byte> bytes) {
  const auto reader = engram::SnapshotReader::parse(bytes, "input");
  if (!reader.ok()) return;
  for (const char* name : {"first", "second", "absent"}) {
    auto section = reader->section(name);
    ENGRAM_CHECK(section.ok() == reader->has(name));
    // Copies every byte: AddressSanitizer sees one that is outside of the input.
    if (section.ok()) ENGRAM_CHECK(engram::as_text(*section).size() == section->size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace engram::snapshot_layout;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  read_all(bytes);
  if (size < kHeaderBytes) return 0;
  std::vector<std::byte> sealed(bytes.begin(), bytes.end());
  const std::uint64_t sum = engram::checksum64(bytes.first(kChecksumAt));
  std::memcpy(sealed.data() + kChecksumAt, &sum, sizeof(sum));
  read_all(sealed);
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  const engram::test::TempDirectory directory;
  auto writer = engram::SnapshotWriter::create(directory / "seed").value();
  for (const char* name : {"first", "second"}) {
    ENGRAM_CHECK(writer.begin_section(name).ok());
    ENGRAM_CHECK(writer.write(engram::as_bytes("the content of a section")).ok());
  }
  ENGRAM_CHECK(writer.commit().ok());
  return {engram::as_text(engram::read_file(directory / "seed", 1 << 20).value())};
}
