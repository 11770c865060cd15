#include "tools/web/qr_code.h"

#include <cstdio>
#include <cstdlib>

#include "platform/file.h"
#include "platform/hash.h"
#include "tests/support/catch.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

const std::string kUrl = "http://192.168.1.17:8477/?token=0123456789abcdef0123456789abcdef";

std::string rows(const QrCode& code, char dark, char light, const std::string& end) {
  std::string text;
  for (int y = 0; y < code.size(); ++y) {
    for (int x = 0; x < code.size(); ++x) text += code.dark(x, y) ? dark : light;
    text += end;
  }
  return text;
}

std::string digest(const QrCode& code) {
  const std::string bits = rows(code, '1', '0', "");
  return sha256_hex(std::as_bytes(std::span(bits)));
}

std::string counting(std::size_t size) {  // "0x1x2x3..."
  std::string text;
  for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + "x";
  return text.substr(0, size);
}

// As a picture, four pixels a module, with the quiet zone.
std::string picture(const QrCode& code) {
  const int side = (code.size() + 8) * 4;
  std::string text = "P5 " + std::to_string(side) + " " + std::to_string(side) + " 255\n";
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) text += code.dark(x / 4 - 4, y / 4 - 4) ? '\0' : '\xFF';
  }
  return text;
}

}  // namespace

// What Debian's qrencode 4.1.1 draws (-8 -l M -m 0).
TEST_CASE("A small QR code is drawn module by module as another encoder draws it", "[tools][qr]") {
  const auto code = QrCode::encode("mug");
  REQUIRE(code.ok());
  CHECK(code->version() == 1);
  CHECK(rows(code.value(), '#', ' ', "\n") ==
        "#######  # ## #######\n"
        "#     # #  #  #     #\n"
        "# ### #   # # # ### #\n"
        "# ### #    #  # ### #\n"
        "# ### # #   # # ### #\n"
        "#     #   # # #     #\n"
        "####### # # # #######\n"
        "         ####        \n"
        "# # # #    #    #  # \n"
        "##       #    #     #\n"
        "# ## ### #  #   #####\n"
        "#  #   #      #      \n"
        "# ##### # # # # #  # \n"
        "        #### # #   ##\n"
        "#######   ## ### # ##\n"
        "#     #  # ### ###  #\n"
        "# ### # ## # ###  # #\n"
        "# ### #  #    #   ## \n"
        "# ### # ##  #   #   #\n"
        "#     #  ##   #   ## \n"
        "####### #   # # # ###\n");
}

TEST_CASE("Larger QR codes too", "[tools][qr]") {
  const auto medium = QrCode::encode(kUrl);
  const auto low = QrCode::encode(kUrl, QrLevel::low);
  const auto largest = QrCode::encode(counting(200));
  REQUIRE((medium.ok() && low.ok() && largest.ok()));
  CHECK(medium->version() == 5);
  CHECK(low->version() == 4);
  CHECK(largest->version() == 10);
  CHECK(digest(medium.value()) ==
        "2b1eeab13b8b393a98a849df90e81b6daaff39704a3a398e20870c840c9729db");
  CHECK(digest(low.value()) == "a320b4772724912bc90503b69f26aaf5a7186f3d469b2d46275ac00c6cd98262");
  CHECK(digest(largest.value()) ==
        "39928e24c4485bba80f6a4c5a180bae89b2e47f4cde71bb43ad67fee8289c9b0");
}

TEST_CASE("A QR code takes what fits, and says so when it does not", "[tools][qr]") {
  CHECK(QrCode::encode("").ok());
  CHECK(QrCode::encode(counting(213))->version() == 10);
  CHECK(QrCode::encode(counting(271), QrLevel::low)->version() == 10);
  CHECK(QrCode::encode(counting(214)).status().code() == Code::invalid_argument);
  CHECK(QrCode::encode(counting(272), QrLevel::low).status().code() == Code::invalid_argument);
}

TEST_CASE("A QR code in a terminal is two modules a character, in its quiet zone", "[tools][qr]") {
  const auto code = QrCode::encode("mug");
  REQUIRE(code.ok());
  const std::string plain = draw_qr(code.value(), false);
  CHECK(std::count(plain.begin(), plain.end(), '\n') == 15);  // 21 + 8, by two
  CHECK(plain.find('\x1b') == std::string::npos);
  std::string light;
  for (int i = 0; i < 29; ++i) light += "█";
  CHECK(plain.starts_with(light + "\n" + light + "\n"));
  const std::string colour = draw_qr(code.value(), true);
  CHECK(colour.starts_with("\x1b[38;5;16;48;5;231m" + std::string(29, ' ') + "\x1b[0m\n"));
}

TEST_CASE("An independent reader reads every version and level", "[tools][qr][child]") {
  if (std::system("command -v zbarimg >/dev/null 2>&1") != 0) {
    WARN("skipped: zbarimg is not here (package zbar-tools)");
    return;
  }
  const test::TempDirectory directory;
  for (const QrLevel level : {QrLevel::low, QrLevel::medium}) {
    int version = 0;
    for (std::size_t size = 10; version < 10; size += 3) {
      const std::string text = counting(size);
      const auto code = QrCode::encode(text, level);
      REQUIRE(code.ok());
      if (code->version() == version) continue;
      version = code->version();
      const std::string pixels = picture(code.value());
      REQUIRE(replace_file(directory / "code.pgm", std::as_bytes(std::span(pixels))).ok());
      const std::string command =
          "zbarimg --quiet --raw '" + (directory / "code.pgm") + "' 2>/dev/null";
      std::FILE* pipe = ::popen(command.c_str(), "r");
      REQUIRE(pipe != nullptr);
      std::string read(1000, '\0');
      read.resize(std::fread(read.data(), 1, read.size(), pipe));
      ::pclose(pipe);
      INFO("version " << version);
      CHECK(read == text + "\n");
    }
  }
}

}  // namespace engram
