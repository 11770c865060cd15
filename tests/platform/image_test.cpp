// Files that are no picture, and folders of pictures.
#include "platform/image.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/picture_files.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

using test::FileBytes;
using test::says;

void write(const std::string& path, const FileBytes& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
}

FileBytes text(const std::string& words) {
  const auto* begin = reinterpret_cast<const std::byte*>(words.data());
  return FileBytes(begin, begin + words.size());
}

Status refused(const std::string& path) {
  const auto image = read_image(path);
  REQUIRE_FALSE(image.ok());
  REQUIRE(says(image.status(), path));  // the message names the file
  return image.status();
}

}  // namespace

TEST_CASE("image: the first bytes decide, not the name", "[platform][image]") {
  const test::TempDirectory folder;
  write(folder / "photo.png", test::jpeg_file(test::gradient_picture(9, 7)));
  const auto image = read_image(folder / "photo.png");
  REQUIRE(image.ok());
  REQUIRE(image->width == 9);
  REQUIRE(image->view().rows == 7);
}

TEST_CASE("image: what is not a picture is named", "[platform][image]") {
  const test::TempDirectory folder;
  const auto verdict = [&](const FileBytes& bytes) {
    write(folder / "x.jpg", bytes);
    const Status status = refused(folder / "x.jpg");
    REQUIRE(status.code() == Code::bad_data);
    return std::string(status.what());
  };
  REQUIRE(says(verdict({}), "is empty (0 bytes)"));
  REQUIRE(says(verdict(text("hello")), "is not a JPEG or PNG picture"));
  REQUIRE(says(verdict(text("GIF89a......")), "is a GIF picture"));
  REQUIRE(says(verdict(text("RIFF1234WEBPVP8 ")), "is a WebP picture"));
  REQUIRE(says(verdict(text("....ftypheic....")), "is a HEIC picture"));
  REQUIRE(says(verdict(text("%PDF-1.4")), "is a PDF document"));
  REQUIRE(says(verdict(text("\xff\xd8\xff")), "not a readable JPEG (it ends after 3 bytes"));
  REQUIRE(says(verdict(text("\x89PNG\r\n\x1a\n")), "not a readable PNG (it ends after 8 bytes"));
}

TEST_CASE("image: missing files, folders, pipes and files that cannot be opened",
          "[platform][image]") {
  const test::TempDirectory folder;
  REQUIRE(refused(folder / "none.jpg").code() == Code::not_found);
  REQUIRE(says(refused(folder.path()), "is a folder"));
  REQUIRE(::mkfifo((folder / "pipe.jpg").c_str(), 0600) == 0);
  REQUIRE(says(refused(folder / "pipe.jpg"), "is not a regular file"));
  std::filesystem::create_symlink("loop.jpg", folder / "loop.jpg");  // closed to root as well
  REQUIRE(refused(folder / "loop.jpg").code() == Code::io_failure);
}

TEST_CASE("image: a file beyond the limit is not read", "[platform][image]") {
  const test::TempDirectory folder;
  write(folder / "huge.png", test::png_header(10, 10));
  std::filesystem::resize_file(folder / "huge.png", kMaxImageBytes + 1);  // sparse: no disk used
  REQUIRE(says(refused(folder / "huge.png"), "more than the"));
}

TEST_CASE("find_images: no folder, no pictures", "[platform][image]") {
  const test::TempDirectory folder;
  REQUIRE(find_images(folder.path()).value().empty());
  REQUIRE(find_images(folder / "none").status().code() == Code::not_found);
  write(folder / "file", text("x"));
  REQUIRE(find_images(folder / "file").status().code() == Code::invalid_argument);
  REQUIRE(find_images(std::string(5000, 'x')).status().code() == Code::io_failure);
}

}  // namespace engram
