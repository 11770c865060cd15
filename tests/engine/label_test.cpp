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

TEST_CASE("label: a new name does not look like another", "[engine][label]") {
  // Joiners belong to Persian, Hindi and emoji.
  for (const char* label : {"mug", "my red mug", "می\u200cخواهم", "क्\u200dष", "👩\u200d🔬", "ÉTÉ"}) {
    CAPTURE(label);
    CHECK(check_new_label(label).ok());
  }
  for (const char* label :
       {" ", "   ", " mug", "mug ", "mu\u200bg", "mug\u200d", "mu\u200cg", "\u200dmug", "👩\u200d",
        "👩\u200d\u200d🔬", "\u200emug", "\u202egum\u202c", "\u2066mug\u2069", "\ufeffmug"}) {
    CAPTURE(label);
    CHECK(check_label(label).ok());  // a state that has it opens
    CHECK(check_new_label(label).code() == Code::invalid_argument);
  }
  CHECK(check_new_label("two\nlines").code() == Code::invalid_argument);
}

TEST_CASE("label: what is too long is quoted in whole characters", "[engine][label]") {
  std::string label = "x";
  while (label.size() < 300) label += "é";
  CHECK(std::string(check_label(label).what()).find("\"xééééééééé\" has") != std::string::npos);
}

}  // namespace engram
