#include "tools/console/terminal.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include <fcntl.h>

#include "tests/support/catch.h"
#include "tools/console/table.h"
#include "tools/console/text_plot.h"
#include "tools/console/text_wrap.h"
#include "tools/console/utf8.h"

namespace engram {

TEST_CASE("UTF-8 is decoded strictly", "[tools][utf8]") {
  REQUIRE(first_code_point("a").value == 'a');
  REQUIRE(first_code_point("ü").value == 0xFC);
  REQUIRE(first_code_point("猫").value == 0x732B);
  REQUIRE(first_code_point("🐈").value == 0x1F408);
  for (const char* bad :
       {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\x80", "\xE7\x8C", "\xFF"}) {
    REQUIRE_FALSE(first_code_point(bad).valid);
    REQUIRE(first_code_point(bad).bytes == 1);
  }
}

TEST_CASE("width counts columns, not bytes", "[tools][terminal]") {
  REQUIRE(display_width("mug") == 3);
  REQUIRE(display_width("Tür") == 3);
  REQUIRE(display_width("猫") == 2);
  REQUIRE(display_width("e\xCC\x81") == 1);  // e and a combining acute
  REQUIRE(pad("猫", 4) == "猫  ");
  REQUIRE(pad("7", 3, true) == "  7");
}

TEST_CASE("shortened text fits and says that it was cut", "[tools][terminal]") {
  REQUIRE(shorten("kettle", 6) == "kettle");
  REQUIRE(shorten("kettles", 6) == "kettl…");
  REQUIRE(display_width(shorten("猫猫猫猫", 6)) <= 6);
}

TEST_CASE("what a stranger wrote cannot steer the terminal", "[tools][terminal]") {
  REQUIRE(printable("plain ü") == "plain ü");
  REQUIRE(printable("\x1b[2J") == "?[2J");
  REQUIRE(printable("a\nb\xFF") == "a?b?");
  REQUIRE(printable("\xE2\x80\xAE"
                    "gpj") == "?gpj");  // right-to-left override
}

TEST_CASE("no colours unless asked for", "[tools][terminal]") {
  REQUIRE(paint("x", Style::red, false) == "x");
  REQUIRE(paint("x", Style::red, true) == "\x1b[31mx\x1b[0m");
}

TEST_CASE("a table aligns by content", "[tools][table]") {
  Table table({{"class"}, {"samples", Align::right}});
  table.add({"Tür", "7"});
  table.add({"mug", "1200"});
  REQUIRE(table.text(false) ==
          "class  samples\n"
          "Tür          7\n"
          "mug       1200\n");
}

TEST_CASE("a dumb terminal is not repainted", "[tools][terminal]") {
  const char* const before = std::getenv("TERM");
  const std::string kept = before ? before : "";
  std::FILE* const terminal = ::fdopen(::posix_openpt(O_RDWR | O_NOCTTY), "w");
  REQUIRE(terminal != nullptr);
  ::setenv("TERM", "xterm", 1);
  CHECK(can_repaint(terminal));
  ::setenv("TERM", "dumb", 1);
  CHECK(is_terminal(terminal));
  CHECK_FALSE(can_repaint(terminal));
  CHECK_FALSE(wants_colour(terminal));
  ::unsetenv("TERM");
  CHECK_FALSE(can_repaint(terminal));
  if (before) ::setenv("TERM", kept.c_str(), 1);
  std::fclose(terminal);
}

TEST_CASE("text wraps at spaces and hangs beside names", "[tools][wrap]") {
  REQUIRE(indented("one two three", 2, 9) == "  one two\n  three\n");
  REQUIRE(indented("a  table\n\nstays", 1, 20) == " a  table\n\n stays\n");
  REQUIRE(hanging("--top N", "how many", 2, 12, 80) == "  --top N   how many\n");
  REQUIRE(hanging("--a-long-name", "x", 2, 8, 80) == "  --a-long-name\n        x\n");
}

TEST_CASE("a text plot puts each value in its row", "[tools][plot]") {
  REQUIRE(text_plot({100, 90, 80}, 80, 3) ==
          "  100 % ┤ ●\n"
          "   90 % ┤   ●\n"
          "   80 % ┤     ●\n"
          "        └──────\n");
  REQUIRE(text_plot({2.5, 0, 1.25}, 0, 2.5, 3) ==
          "   2.50 ┤ ●\n"
          "   1.25 ┤     ●\n"
          "   0.00 ┤   ●\n"
          "        └──────\n");
}

}  // namespace engram
