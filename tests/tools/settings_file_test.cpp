// Settings: what is read, and how each mistake is named.
#include "tools/settings_file.h"

#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

namespace engram {

TEST_CASE("settings_file: keys, values, comments and line numbers", "[tools][settings]") {
  const auto settings = parse_settings(
      "# head\n"
      "\n"
      "  source\t=  rtsp://cam/one?a=b#c \r\n"
      "#mirror = yes\n"
      "false-alarm=5",
      "x.conf");
  REQUIRE(settings.ok());
  REQUIRE(settings.value().size() == 2);
  REQUIRE(settings.value()[0].key == "source");
  REQUIRE(settings.value()[0].value == "rtsp://cam/one?a=b#c");
  REQUIRE(settings.value()[0].line == 3);
  REQUIRE(settings.value()[1].key == "false-alarm");
  REQUIRE(settings.value()[1].value == "5");
  REQUIRE(settings.value()[1].line == 5);
  REQUIRE(parse_settings("", "x.conf").value().empty());
}

TEST_CASE("settings_file: each mistake with file, line and a sentence", "[tools][settings]") {
  struct Mistake {
    std::string text, place, words;
  };
  const auto mistake = GENERATE(
      values<Mistake>({{"a = 1\nmirror\n", "x.conf:2:", "mirror is no setting"},
                       {"a =\n", "x.conf:1:", "a has no value"},
                       {"\n = 3\n", "x.conf:2:", "before ="},
                       {"Two words = 3\n", "x.conf:1:", "Two words is no key"},
                       {"a = 1\n# b\na = 2\n", "x.conf:3:", "a is set twice, first in line 1"},
                       {std::string("a = \0b\n", 7), "x.conf:1:", "control character"},
                       {"a = \x1b[31m\n", "x.conf:1:", "control character"},
                       {"[camera]\n", "x.conf:1:", "[camera] is no setting"}}));
  CAPTURE(mistake.text);
  const Status status = parse_settings(mistake.text, "x.conf").status();
  REQUIRE(status.code() == Code::bad_data);
  REQUIRE(test::says(status, mistake.place));
  REQUIRE(test::says(status, mistake.words));
}

TEST_CASE("settings_file: files that are none", "[tools][settings]") {
  const test::TempDirectory folder;
  REQUIRE(read_settings(folder / "absent").status().code() == Code::not_found);
  REQUIRE(read_settings(folder.path()).status().code() == Code::bad_data);
  std::ofstream(folder / "huge") << std::string(100'000, '#');
  REQUIRE(read_settings(folder / "huge").status().code() == Code::bad_data);
  std::ofstream(folder / "fine") << "a = b\n";
  REQUIRE(read_settings(folder / "fine").value().size() == 1);
}

TEST_CASE("settings_file: yes and no", "[tools][settings]") {
  for (const char* yes : {"yes", "true", "on", "1"}) REQUIRE(truth_of(yes) == "true");
  for (const char* no : {"no", "false", "off", "0"}) REQUIRE(truth_of(no) == "false");
  for (const char* neither : {"", "2", "y", "Yes", "no "}) REQUIRE(truth_of(neither).empty());
}

}  // namespace engram
