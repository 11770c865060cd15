#include "tools/web/page_token.h"

#include <sys/stat.h>

#include "engine/byte_io.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

namespace engram {

TEST_CASE("page_token: the same at every start, until it is forgotten", "[tools][web]") {
  const test::TempDirectory folder;
  const std::string home = folder / "home", file = page_token_file(home);
  CHECK(read_page_token(home).status().code() == Code::not_found);
  const PageToken first = kept_page_token(home);
  CHECK(first.note.empty());
  CHECK(first.token.size() >= 22);  // 128 bits
  struct stat found;
  REQUIRE(::stat(file.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0600);
  CHECK(kept_page_token(home).token == first.token);
  CHECK(read_page_token(home).value() == first.token);
  REQUIRE(forget_page_token(home).value());
  CHECK_FALSE(forget_page_token(home).value());
  CHECK(kept_page_token(home).token != first.token);
}

TEST_CASE("page_token: one that others may have seen, or that is none, is replaced",
          "[tools][web]") {
  const test::TempDirectory folder;
  const std::string home = folder.path(), file = page_token_file(home);
  const std::string first = kept_page_token(home).token;
  SECTION("readable") {
    REQUIRE(::chmod(file.c_str(), 0644) == 0);
  }
  SECTION("cut off") {
    const std::string text = first.substr(1) + "\n";
    REQUIRE(replace_file(file, as_bytes(text)).ok());
    REQUIRE(::chmod(file.c_str(), 0600) == 0);
  }
  SECTION("something else") {
    const std::string text(first.size(), '"');
    REQUIRE(replace_file(file, as_bytes(text)).ok());
    REQUIRE(::chmod(file.c_str(), 0600) == 0);
  }
  const PageToken second = kept_page_token(home);
  CHECK(test::says(second.note, "The page has a new one"));
  CHECK(second.token != first);
  CHECK(kept_page_token(home).token == second.token);
}

TEST_CASE("page_token: where nothing can be kept there is one all the same", "[tools][web]") {
  const PageToken token = kept_page_token("/proc/engram");
  CHECK(token.token.size() >= 22);
  CHECK(test::says(token.note, "of this start only"));
}

}  // namespace engram
