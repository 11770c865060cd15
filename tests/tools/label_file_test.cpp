#include "tools/pictures/label_file.h"

#include "tests/support/catch.h"

namespace engram {
namespace {

std::string complaint(std::string_view text) {
  const auto result = parse_label_file(text, "photos/list.tsv");
  REQUIRE_FALSE(result.ok());
  REQUIRE(result.status().code() == Code::bad_data);
  return result.status().what();
}

}  // namespace

TEST_CASE("a label file is path, tab, label", "[tools][labels]") {
  const auto result = parse_label_file(
      "a.jpg\tmug\nsub dir/b.jpg\tcoffee mug / größe\r\n/abs.png\t猫", "photos/list.tsv");
  REQUIRE(result.ok());
  REQUIRE(result.value() ==
          std::vector<LabelledPath>{{"photos/a.jpg", "mug"},
                                    {"photos/sub dir/b.jpg", "coffee mug / größe"},
                                    {"/abs.png", "猫"}});
}

TEST_CASE("a label file may have what editors add: a byte order mark, blank lines at the end",
          "[tools][labels]") {
  const std::vector<LabelledPath> items{{"photos/a.jpg", "mug"}, {"photos/b.jpg", "pot"}};
  for (const std::string_view end : {"", "\n", "\r\n", "\n\n\n", "\r\n\r\n", "\n  \n\t\r\n "}) {
    const std::string text = "a.jpg\tmug\nb.jpg\tpot" + std::string(end);
    REQUIRE(parse_label_file(text, "photos/list.tsv").value() == items);
    REQUIRE(parse_label_file("\xEF\xBB\xBF" + text, "photos/list.tsv").value() == items);
  }
}

TEST_CASE("a label file is read strictly, and the line is named", "[tools][labels]") {
  REQUIRE(complaint("").find("empty") != std::string::npos);
  REQUIRE(complaint("a.jpg mug\n").find(":1: the line holds no tab") != std::string::npos);
  REQUIRE(complaint("a\tb\n\nc\td\n").find(":2: the line is empty") != std::string::npos);
  REQUIRE(complaint("\n \r\n").find("the label file is empty") != std::string::npos);
  REQUIRE(complaint("\xEF\xBB\xBF").find("the label file is empty") != std::string::npos);
  REQUIRE(complaint("a\t\n\n").find("is empty") != std::string::npos);
  REQUIRE(complaint("a\tb\tc\n").find("more than one tab") != std::string::npos);
  REQUIRE(complaint("\tb\n").find("the path is empty") != std::string::npos);
  REQUIRE(complaint("a\t\n").find("is empty") != std::string::npos);
  REQUIRE(complaint("a\tb\na\tc\n").find(":2: the path stands already in line 1") !=
          std::string::npos);
  REQUIRE(complaint("a\t\xFF\n").find("not valid UTF-8") != std::string::npos);
  REQUIRE(complaint(std::string_view("a\0b\tc\n", 6)).find("zero byte") != std::string::npos);
}

}  // namespace engram
