#include "tools/tree.h"

#include <filesystem>
#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

using test::says;

void touch(const std::string& path) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << "x";
}

}  // namespace

TEST_CASE("folders on the first level are labels, whatever lies deeper", "[tools][tree]") {
  const test::TempDirectory folder;
  for (const char* name : {"tea pot/b.jpg", "tea pot/a.PNG", "mug/red/deep/1.jpeg", "mug/notes.txt",
                           "empty/readme.md", "stray.jpg", ".hidden/x.png"}) {
    touch(folder / name);
  }
  const auto tree = read_tree(folder.path());
  REQUIRE(tree.ok());
  REQUIRE(tree->items == std::vector<LabelledPath>{{folder / "mug/red/deep/1.jpeg", "mug"},
                                                   {folder / "tea pot/a.PNG", "tea pot"},
                                                   {folder / "tea pot/b.jpg", "tea pot"}});
  REQUIRE(tree->labels() == std::vector<std::string>{"mug", "tea pot"});
  REQUIRE(tree->notes.size() == 2);
  REQUIRE(says(tree->notes[0], "empty: holds no picture"));
  REQUIRE(says(tree->notes[1], "1 picture beside the folders"));
}

TEST_CASE("a tree without pictures is an error that says what was expected", "[tools][tree]") {
  const test::TempDirectory folder;
  REQUIRE(read_tree(folder.path()).status().code() == Code::not_found);
  REQUIRE(says(read_tree(folder.path()).status(), "<label>"));
  REQUIRE(read_tree(folder / "nowhere").status().code() == Code::not_found);
  touch(folder / "bad\nname/1.jpg");
  REQUIRE(read_tree(folder.path()).status().code() == Code::invalid_argument);
}

TEST_CASE("folders among files become the pictures below them", "[tools][tree]") {
  const test::TempDirectory folder;
  touch(folder / "a/2.png");
  touch(folder / "a/1.jpg");
  const auto files = expand_inputs({"not there.jpg", folder / "a"});
  REQUIRE(files.ok());
  REQUIRE(files.value() ==
          std::vector<std::string>{"not there.jpg", folder / "a/1.jpg", folder / "a/2.png"});
  std::filesystem::create_directory(folder / "void");
  REQUIRE(expand_inputs({folder / "void"}).status().code() == Code::not_found);
}

TEST_CASE("pictures are named in one way, not in two", "[tools][tree]") {
  REQUIRE(read_labelled("", "").status().code() == Code::invalid_argument);
  REQUIRE(read_labelled("a", "b").status().code() == Code::invalid_argument);
}

}  // namespace engram
