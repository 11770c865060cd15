#include "platform/picture_folder.h"

#include <filesystem>
#include <fstream>

#include <sys/stat.h>

#include "platform/image.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

namespace fs = std::filesystem;
using test::says;

void touch_at(const std::string& path) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << "x";
}

}  // namespace

TEST_CASE("a folder's pictures: sorted, recursive, any case, links followed",
          "[platform][picture_folder]") {
  const test::TempDirectory folder, elsewhere;
  for (const char* name : {"b.JPG", "a/2.png", "a/1.jpeg", "a/notes.txt", ".hidden.png",
                           ".thumbs/t.png", "z z/\xc3\xa9.PnG"}) {
    touch_at(folder / name);
  }
  touch_at(elsewhere / "out.png");
  fs::create_symlink(elsewhere / "out.png", folder / "link.png");
  fs::create_directory_symlink(elsewhere.path(), folder / "linked");
  fs::create_symlink(folder / "b.JPG", folder / "inside.jpg");
  fs::create_directory(folder / "folder.png");

  const std::vector<std::string> pictures{folder / "a/1.jpeg",        folder / "a/2.png",
                                          folder / "b.JPG",           folder / "inside.jpg",
                                          folder / "link.png",        folder / "linked/out.png",
                                          folder / "z z/\xc3\xa9.PnG"};
  const auto found = search_pictures(folder.path());
  REQUIRE(found.ok());
  REQUIRE(found->pictures == pictures);
  REQUIRE(found->left_out.empty());
  REQUIRE(find_images(folder.path()).value() == pictures);
}

TEST_CASE("links that go round or up are not followed", "[platform][picture_folder]") {
  const test::TempDirectory folder;
  touch_at(folder / "mug/1.png");
  touch_at(folder / "mug/red/2.png");
  touch_at(folder / "cup/3.png");
  fs::create_directory_symlink(folder / "mug", folder / "mug/red/round");
  fs::create_directory_symlink("..", folder / "mug/up");
  fs::create_directory_symlink("red", folder / "mug/again");
  const auto found = search_pictures(folder / "mug");
  REQUIRE(found.ok());
  REQUIRE(found->pictures ==
          std::vector<std::string>{folder / "mug/1.png", folder / "mug/red/2.png"});
  REQUIRE(found->left_out.empty());
}

TEST_CASE("what looks like a picture and is none is told", "[platform][picture_folder]") {
  const test::TempDirectory folder;
  for (const char* name : {"a.webp", "b/c.HEIC", "d.heic", "notes.txt", "Thumbs.db"}) {
    touch_at(folder / name);
  }
  fs::create_symlink(folder / "nowhere", folder / "gone.jpg");
  fs::create_symlink(folder / "nowhere", folder / "gone.txt");
  REQUIRE(::mkfifo((folder / "pipe.png").c_str(), 0600) == 0);
  const auto found = search_pictures(folder.path());
  REQUIRE(found.ok());
  REQUIRE(found->pictures.empty());
  REQUIRE(found->left_out.size() == 3);
  REQUIRE(says(found->left_out[0].why, "gone.jpg: is a link that leads nowhere"));
  REQUIRE(says(found->left_out[1].why, "pipe.png: is not a file"));
  REQUIRE(says(found->left_out[2].why, "3 pictures of kinds that are not read were left out"));
  REQUIRE(says(found->left_out[2].why, "(2 .heic, 1 .webp)"));
}

}  // namespace engram
