#include "tools/pictures/tree.h"

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
  REQUIRE(tree->skipped.size() == 2);
  REQUIRE(says(tree->skipped[0].why, "empty: holds no picture"));
  REQUIRE(says(tree->skipped[1].why, "1 picture beside the folders has no label and was left out"));
}

TEST_CASE("a tree without pictures is an error that says what was expected", "[tools][tree]") {
  const test::TempDirectory folder;
  REQUIRE(read_tree(folder.path()).status().code() == Code::not_found);
  REQUIRE(says(read_tree(folder.path()).status(), "<label>"));
  REQUIRE(read_tree(folder / "nowhere").status().code() == Code::not_found);
  touch(folder / "bad\nname/1.jpg");
  REQUIRE(read_tree(folder.path()).status().code() == Code::invalid_argument);
}

TEST_CASE("a folder that gives nothing is skipped and the others are used", "[tools][tree]") {
  const test::TempDirectory folder;
  touch(folder / "bad\nname/1.jpg");
  touch(folder / "mug/1.jpg");
  touch(folder / "mug/2.webp");
  std::filesystem::create_symlink(folder / "nowhere", folder / "gone");
  const auto tree = read_tree(folder.path());
  REQUIRE(tree.ok());
  REQUIRE(tree->items == std::vector<LabelledPath>{{folder / "mug/1.jpg", "mug"}});
  REQUIRE(tree->skipped.size() == 3);
  REQUIRE(says(tree->skipped[0].why, "bad?name: its name cannot be a label"));
  REQUIRE(
      says(tree->skipped[1].why, "1 picture of kinds that are not read was left out (1 .webp)"));
  REQUIRE(says(tree->skipped[2].why, "gone: is a link that leads nowhere"));
}

TEST_CASE("folders among files become the pictures below them", "[tools][tree]") {
  const test::TempDirectory folder;
  touch(folder / "a/2.png");
  touch(folder / "a/1.jpg");
  std::filesystem::create_directory(folder / "void");
  const auto inputs = expand_inputs({"not there.jpg", folder / "void", folder / "a"});
  REQUIRE(inputs.ok());
  REQUIRE(inputs->files ==
          std::vector<std::string>{"not there.jpg", folder / "a/1.jpg", folder / "a/2.png"});
  REQUIRE(inputs->skipped.size() == 1);
  REQUIRE(inputs->skipped[0].path == folder / "void");
  REQUIRE(expand_inputs({folder / "void"}).status().code() == Code::not_found);
}

TEST_CASE("pictures are named in one way, not in two", "[tools][tree]") {
  REQUIRE(read_labelled("", "").status().code() == Code::invalid_argument);
  REQUIRE(read_labelled("a", "b").status().code() == Code::invalid_argument);
}

}  // namespace engram
