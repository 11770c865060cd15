// The reader of NumPy arrays: whatever parses must be readable in full, as numbers or as text.
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/archive_files.h"
#include "tools/features/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto array = engram::NpyView::parse(std::as_bytes(std::span(data, size)), "input");
  if (!array.ok()) return 0;
  const auto count = std::size_t(array.value().count());
  if (array.value().is_text()) {
    const auto texts = array.value().texts();
    if (texts.ok()) ENGRAM_CHECK(texts.value().size() == count);
    ENGRAM_CHECK(count == 0 || !array.value().floats().ok());
    return 0;
  }
  const auto floats = array.value().floats();
  if (floats.ok()) ENGRAM_CHECK(floats.value().size() == count);
  const auto whole = array.value().whole_numbers();
  if (whole.ok()) ENGRAM_CHECK(whole.value().size() == count);
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  using engram::test::floats;
  using engram::test::npy;
  return {npy("<f4", "(2, 3)", floats({1, 2, 3, 4, 5, 6})),
          npy("<f4", "(2, 3)", floats({1, 2, 3, 4, 5, 6}), true),
          npy(">i2", "(3,)", std::string("\0\1\0\2\xff\xff", 6)),
          npy("<f2", "(2,)", std::string("\0\x3c\0\xc0", 4)),
          npy("|u1", "(4, 1)", "abcd"),
          npy("<U2", "(2,)", std::string("a\0\0\0b\0\0\0c\0\0\0\0\0\0\0", 16)),
          npy("|S3", "(2,)", "cupmug", false, 2)};
}
