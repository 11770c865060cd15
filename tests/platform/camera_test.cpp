// Addresses of cameras, and the show of the stage.
#include "platform/camera.h"

#include <fstream>

#include <png.h>

#include "platform/camera_stage.h"
#include "platform/camera_uri.h"
#include "tests/support/catch.h"
#include "tests/support/picture_files.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

using test::says;

Status refused(const std::string& uri) {
  const auto camera = open_camera(uri);
  REQUIRE_FALSE(camera.ok());
  return camera.status();
}

void write_square(const std::string& path) {
  const auto file = test::png_file(2, 1, {PNG_COLOR_TYPE_GRAY_ALPHA, 8}, {200, 255, 10, 255});
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), std::streamsize(file.size()));
}

}  // namespace

TEST_CASE("camera: addresses are taken apart", "[platform][camera]") {
  auto uri = parse_camera_uri("stage://a%20b?x=1&stamps=/a%26b&odd=%zz%4");
  REQUIRE(uri.ok());
  REQUIRE(uri->scheme == "stage");
  REQUIRE(uri->path == "a b");
  REQUIRE(uri->take_text("stamps", "") == "/a&b");
  REQUIRE(uri->take_text("odd", "") == "%zz%4");
  REQUIRE(uri->take_text("stamps", "none") == "none");
  REQUIRE(uri->take_number("x", 0, 0, 5).value() == 1);
  REQUIRE(uri->take_number("x", 4, 0, 5).value() == 4);
}

TEST_CASE("camera: what is not understood is refused with what is", "[platform][camera]") {
  for (const char* uri : {"", "stage", "://x", "photo.jpg"}) {
    REQUIRE(refused(uri).code() == Code::invalid_argument);
  }
  REQUIRE(refused("v4l2:///dev/video0").code() == Code::not_supported);
  REQUIRE(says(refused("rtsp://host/x"), "Supported: stage://"));
  REQUIRE(says(refused("stage://?sed=1"), "\"sed\" is not understood. It takes stage://?seed="));
  REQUIRE(says(refused("stage://somewhere"), "\"somewhere\""));
  REQUIRE(says(refused("stage://?seed"), "is not key=value"));
  REQUIRE(says(refused("stage://?seed=1&seed=2"), "given twice"));
  for (const char* wrong : {"width=x", "width=", "width=640px", "width=63", "width=4097",
                            "objects=0", "objects=-1", "hold=0", "seed=99999999999999999999"}) {
    REQUIRE(says(refused(std::string("stage://?") + wrong), "is not a whole number from"));
  }
}

TEST_CASE("camera: the stage shows each object in turn, then ends", "[platform][camera]") {
  const test::TempDirectory folder;
  write_square(folder / "a.png");
  write_square(folder / "b.png");
  const auto camera = open_camera(
      "stage://?seed=5&objects=2&width=64&height=64&hold=2&frames=5&stamps=" + folder.path());
  INFO(camera.status().what());
  REQUIRE(camera.ok());

  StageOptions options;
  options.seed = 5;
  options.objects = 2;
  options.width = options.height = 64;
  options.stamps = folder.path();
  const auto stage = Stage::open(options);
  const int shown[] = {0, 0, 1, 1, 0};
  for (std::uint64_t frame = 0; frame < 5; ++frame) {
    const auto image = camera.value()->next();
    REQUIRE(image.ok());
    REQUIRE(image->rgb == stage->view(shown[frame], frame)->rgb);
  }
  REQUIRE(camera.value()->next().status().code() == Code::not_found);
}

}  // namespace engram
