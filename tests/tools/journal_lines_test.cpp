// Lines for the journal, and when they are written.
#include "tools/console/journal_lines.h"

#include <cstdlib>

#include <fmt/format.h>
#include <sys/stat.h>

#include "tests/support/catch.h"
#include "tests/support/temp_directory.h"

namespace engram {

TEST_CASE("journal_lines: a priority before each line", "[tools][journal]") {
  REQUIRE(journal_lines(Priority::error, "broken") == "<3>broken\n");
  REQUIRE(journal_lines(Priority::warning, "one\n\ntwo\n") == "<4>one\n<4>two\n");
  REQUIRE(journal_lines(Priority::info, "").empty());
}

TEST_CASE("journal_lines: only the stream that JOURNAL_STREAM names", "[tools][journal]") {
  const test::TempDirectory folder;
  std::FILE* journal = std::fopen((folder / "journal").c_str(), "w");
  std::FILE* other = std::fopen((folder / "other").c_str(), "w");
  struct stat file {};
  REQUIRE(::stat((folder / "journal").c_str(), &file) == 0);
  ::setenv("JOURNAL_STREAM", fmt::format("{}:{}", file.st_dev, file.st_ino).c_str(), 1);
  const bool named = journal_reads(journal), unnamed = journal_reads(other);
  ::setenv("JOURNAL_STREAM", "8:", 1);
  const bool garbage = journal_reads(journal);
  ::unsetenv("JOURNAL_STREAM");
  const bool unset = journal_reads(journal);
  std::fclose(journal);
  std::fclose(other);
  REQUIRE(named);
  REQUIRE_FALSE(unnamed);
  REQUIRE_FALSE(garbage);
  REQUIRE_FALSE(unset);
}

}  // namespace engram
