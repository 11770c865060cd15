#include "tools/output_folder.h"

#include <filesystem>
#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

namespace engram {

namespace fs = std::filesystem;

TEST_CASE("a folder for results is made, tried, and goes again if nothing came",
          "[tools][output]") {
  const test::TempDirectory directory;
  const std::string path = directory / "a/b";
  {
    const auto folder = OutputFolder::make(path);
    REQUIRE(folder.ok());
    REQUIRE(fs::is_empty(path));
  }
  REQUIRE_FALSE(fs::exists(path));
  {
    const auto folder = OutputFolder::make(path);
    std::ofstream(path + "/report.txt") << "x";
  }
  REQUIRE(fs::exists(path + "/report.txt"));
  fs::remove(path + "/report.txt");
  { REQUIRE(OutputFolder::make(path).ok()); }
  REQUIRE(fs::exists(path));  // was there before
}

TEST_CASE("a folder that takes no file is refused before the work", "[tools][output]") {
  const test::TempDirectory directory;
  std::ofstream(directory / "file") << "x";
  REQUIRE(OutputFolder::make(directory / "file/out").status().code() == Code::io_failure);
  const auto refused = OutputFolder::make("/proc");  // to root as well
  REQUIRE(refused.status().code() == Code::io_failure);
  REQUIRE(test::says(refused.status(), "Nothing was computed"));
}

}  // namespace engram
