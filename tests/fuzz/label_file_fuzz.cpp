// Any bytes as a label file: refused with a sentence, or pairs that are what they promise.
#include <string_view>

#include "tests/fuzz/fuzz_target.h"
#include "tools/pictures/label_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto result = engram::parse_label_file(text, "list.tsv");
  if (!result.ok()) return 0;
  for (const engram::LabelledPath& item : result.value()) {
    ENGRAM_CHECK(!item.path.empty());
    ENGRAM_CHECK(engram::check_label(item.label).ok());
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  return {"a.jpg\tmug\nsub dir/b.jpg\tcoffee mug / größe\n/abs.png\t猫\n", "a.png\tb\r\nc.png\td"};
}
