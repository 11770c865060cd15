#include "engine/label.h"

#include <string>

#include "tests/support/catch.h"

namespace engram {

TEST_CASE("label: names of all kinds are taken", "[engine][label]") {
  for (const char* label : {"mug", "my red mug", "Straße/Ecke", "猫", "🐈", "a", "../x", "C:\\x"}) {
    CAPTURE(label);
    CHECK(check_label(label).ok());
  }
  CHECK(check_label(std::string(255, 'x')).ok());
}

TEST_CASE("label: what is no name is refused", "[engine][label]") {
  const std::string bad[] = {
      "",
      std::string(256, 'x'),
      "two\nlines",
      std::string("nul\0", 4),
      "\x7f",
      "\xc2\x85",          // next line, a control character of two bytes
      "\xff",              // never a lead byte
      "\x80",              // continues nothing
      "\xc3",              // ends too early
      "\xe2\x82",          // ends too early
      "\xc3\x28",          // not a continuation
      "\xc0\xaf",          // overlong
      "\xe0\x80\xaf",      // overlong
      "\xed\xa0\x80",      // surrogate
      "\xf4\x90\x80\x80",  // above 10FFFF
  };
  for (const std::string& label : bad) {
    CAPTURE(label.size());
    const Status status = check_label(label);
    CHECK(status.code() == Code::invalid_argument);
  }
}

}  // namespace engram
