// The file of a training of `engram adapt`: any bytes under the right checksum.
#include "engine/byte_io.h"
#include "platform/hash.h"
#include "tests/fuzz/fuzz_target.h"
#include "tools/adapt/adapt_checkpoint.h"

using namespace engram;

namespace {

constexpr std::size_t kHead = 16;  // magic and checksum

AdaptCheckpoint some_checkpoint(std::size_t values) {
  return {.pictures = 7,
          .before = {3, 4},
          .model = "vit",
          .backbone = std::string(64, 'a'),
          .training = std::string(40, 't'),
          .best = std::vector<float>(values, 1.5f)};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> body(reinterpret_cast<const std::byte*>(data), size);
  const std::vector<std::byte> good = encode(some_checkpoint(0));
  ByteWriter file;
  file.put_bytes(std::span(good).first(8));
  file.put(checksum64(body));
  file.put_bytes(body);
  const auto parsed = parse_adapt_checkpoint(file.bytes(), "fuzz");
  if (!parsed.ok()) return 0;
  ENGRAM_CHECK(encode(parsed.value()) == file.bytes());  // one way to write what was read
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  for (const std::size_t values : {0, 1, 20}) {
    const std::vector<std::byte> file = encode(some_checkpoint(values));
    seeds.push_back(as_text(std::span(file).subspan(kHead)));
  }
  return seeds;
}
