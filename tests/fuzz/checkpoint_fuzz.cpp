// The reader of PyTorch checkpoints, both forms, with the ZIP and the pickle reader under it.
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/archive_files.h"
#include "tools/convert/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto checkpoint = engram::parse_checkpoint(std::as_bytes(std::span(data, size)), "input");
  if (!checkpoint.ok()) return 0;
  for (const auto& [name, tensor] : checkpoint.value()) {
    std::size_t count = 1;
    for (const std::int64_t length : tensor.shape) count *= static_cast<std::size_t>(length);
    ENGRAM_CHECK(tensor.values.size() == count);
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  using namespace engram::test;
  const std::string state = dict({{"w", tensor({.sizes = {2, 3}, .strides = {1, 2}})},
                                  {"b", tensor({.offset = 4, .sizes = {2}, .strides = {1}})},
                                  {"epoch", whole(7)}});
  const std::string six = floats({0, 1, 2, 3, 4, 5});
  return {legacy_checkpoint(state, {{"0", 6, six}}),
          zip_archive({{"m/data.pkl", pickle(state), false}, {"m/data/0", six, false}}),
          zip_archive({{"m/data.pkl", pickle(state), true}, {"m/data/0", six, true}})};
}
