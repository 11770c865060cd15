// Addresses of cameras, and the show of the stage.
#include "platform/camera.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

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
  for (const char* uri : {"", "://x", "file:///a%00b"}) {
    REQUIRE(refused(uri).code() == Code::invalid_argument);
  }
  for (const char* path : {"stage", "photo.jpg", "v4l2:/dev/video0", "no/such/folder?fps=5"}) {
    REQUIRE(refused(path).code() == Code::not_found);
    REQUIRE(says(refused(path), "v4l2:///dev/video0"));
  }
  REQUIRE(refused("http://host/x").code() == Code::not_supported);
  for (const char* known :
       {"\n  v4l2://", "\n  csi://", "\n  rtsp://", "\n  file://", "\n  stage://", "\n  test://"}) {
    REQUIRE(says(refused("http://host/x"), known));
  }
  REQUIRE(says(refused("stage://?sed=1"), "\"sed\" is not understood. It takes stage://?seed="));
  REQUIRE(says(refused("stage://somewhere"), "\"somewhere\""));
  REQUIRE(says(refused("test://somewhere"), "\"somewhere\" is not understood. It takes test://"));
  REQUIRE(says(refused("stage://?seed"), "is not key=value"));
  REQUIRE(says(refused("stage://?seed=1&seed=2"), "given twice"));
  for (const char* wrong : {"width=x", "width=", "width=640px", "width=63", "width=4097",
                            "objects=0", "objects=-1", "hold=0", "seed=99999999999999999999"}) {
    REQUIRE(says(refused(std::string("stage://?") + wrong), "is not a whole number from"));
  }
  REQUIRE(says(refused("v4l2:///dev/video0?size=3"), "\"size\" is not understood"));
}

TEST_CASE("camera: a slip in the kind of source is noticed", "[platform][camera]") {
  const std::pair<const char*, const char*> slips[] = {
      {"v4l://0", "v4l2"},    {"vl42://0", "v4l2"}, {"v412:///dev/video0", "v4l2"},
      {"rstp://h/x", "rtsp"}, {"fiel://x", "file"}, {"stge://", "stage"},
      {"stages://", "stage"}, {"cis://0", "csi"},   {"text://", "test"}};
  for (const auto& [uri, meant] : slips) {
    CAPTURE(uri);
    REQUIRE(says(refused(uri), std::string("Did you mean ") + meant + "://?"));
  }
  for (const char* other : {"http://h/x", "gopher://x", "x://", "xy://"}) {
    REQUIRE_FALSE(says(refused(other), "Did you mean"));
  }
  REQUIRE(nearest_scheme(std::string(1'000'000, 'v')).empty());
}

TEST_CASE("camera: no password in messages", "[platform][camera]") {
  REQUIRE(without_password("rtsp://me:s3cret@host:554/a@b") == "rtsp://host:554/a@b");
  REQUIRE(without_password("rtsp://me:p@ss@host") == "rtsp://host");
  REQUIRE(without_password("rtsp://host/a@b?c=d@e") == "rtsp://host/a@b?c=d@e");
  REQUIRE(without_password("photos@home") == "photos@home");
  // However the address is wrong.
  for (const char* uri :
       {"rtps://me:s3cret@host/live", "rtsp:/me:s3cret@host", "://me:s3cret@host",
        "me:s3cret@host/live", "http://me:s3cret@host?a", "http://me:s3cret@host/%00?b=1",
        "http://me:s3cret@host?a=1&a=2", "http://me:x?s3cret@host"}) {
    INFO(uri);
    const Status refused = open_camera(uri).status();
    REQUIRE_FALSE(refused.ok());
    CHECK_FALSE(says(refused, "s3cret"));
    CHECK(says(refused, "host"));
  }
  CHECK(mistyped_address("photos@home") == "photos@home");
  REQUIRE_FALSE(says(refused("rtp://me:s3cret@host/x"), "s3cret"));
}

TEST_CASE("camera: pictures of a folder, a pattern or a file", "[platform][camera]") {
  const test::TempDirectory folder;
  const auto write = [&](const std::string& name, const test::FileBytes& file) {
    std::ofstream(folder / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), std::streamsize(file.size()));
  };
  for (const int width : {3, 1, 2}) {
    const std::string number = std::to_string(width);
    write(number + (width == 2 ? ".png" : ".jpg"),
          test::jpeg_file(test::gradient_picture(width, 1)));
  }
  // The widths of what an address shows until it ends; -1 for a broken picture.
  const auto widths = [](const std::string& uri) {
    const auto camera = open_camera(uri);
    INFO(camera.status().what());
    REQUIRE(camera.ok());
    std::vector<int> shown;
    for (int i = 0; i < 7; ++i) {
      const auto image = camera.value()->next();
      if (image.status().code() == Code::not_found) break;
      if (!image.ok()) REQUIRE(image.status().code() == Code::bad_data);
      shown.push_back(image.ok() ? image->view().width() : -1);
    }
    return shown;
  };
  using Widths = std::vector<int>;
  const std::string address = "file://" + folder.path();
  CHECK(widths(address + "?fps=0") == Widths{1, 2, 3});
  CHECK(widths(folder.path() + "?fps=0") == Widths{1, 2, 3});
  CHECK(widths(address + "?fps=1000&loop=1") == Widths{1, 2, 3, 1, 2, 3, 1});
  CHECK(widths(address + "/*.jpg?fps=0") == Widths{1, 3});
  CHECK(widths(folder / "[12].*?fps=0") == Widths{1, 2});
  CHECK(widths(address + "/%3F.png") == Widths{2});
  CHECK(widths(folder / "3.jpg") == Widths{3});
  write("2.jpg", {});
  CHECK(widths(address + "/*.jpg?fps=0") == Widths{1, -1, 3});
  for (int i = 10; i < 40; ++i) write("2" + std::to_string(i) + ".jpg", {});
  CHECK(widths(address + "/*.jpg?fps=0") == Widths{1, -1, 3});  // once for all of them
  CHECK(widths(address + "/2*.jpg?fps=0") == Widths{-1, -1});   // and at the end
  write("odd?name%41=[1].jpg", test::jpeg_file(test::gradient_picture(9, 1)));
  CHECK(widths(folder / "odd?name%41=[1].jpg") == Widths{9});  // a path that is there is a path
  write("no name", test::jpeg_file(test::gradient_picture(8, 1)));
  CHECK(widths(folder / "no name") == Widths{8});  // a picture by its first bytes

  CHECK(says(refused(address + "/*.bmp"), "there are no .jpg, .jpeg or .png pictures"));
  CHECK(refused(address + "/none").code() == Code::not_found);
  CHECK(says(refused(address + "?speed=3"), "\"speed\" is not understood"));
  CHECK(says(refused("/dev/null"), "/dev/null: is not a camera"));

  // What is deleted while the show goes on is a picture less, not the end.
  const auto camera = open_camera(address + "/*.jpg?fps=0");
  REQUIRE(camera.ok());
  REQUIRE(camera.value()->next().ok());
  std::filesystem::remove(folder / "2.jpg");
  CHECK(camera.value()->next().status().code() == Code::bad_data);
  CHECK(camera.value()->next().ok());
}

TEST_CASE("camera: a video without the module says what to install", "[platform][camera]") {
  const test::TempDirectory folder;
  std::ofstream(folder / "clip.mp4") << "not really";
  ::setenv("ENGRAM_PLUGINS", folder.path().c_str(), 1);
  for (const std::string& uri : {folder / "clip.mp4", "file://" + (folder / "clip.mp4"),
                                 std::string("rtsp://host/x"), std::string("csi://0")}) {
    const Status status = refused(uri);
    CHECK(status.code() == Code::not_supported);
    CHECK(says(status, "need GStreamer"));
    CHECK(says(status, folder.path()));
  }
  std::ofstream(folder / "libengram_gstreamer.so") << "not a module";
  CHECK(says(refused("csi://0"), "apt-get install gstreamer1.0"));
  ::unsetenv("ENGRAM_PLUGINS");
}

TEST_CASE("camera: the test pattern moves, repeats and fails when told", "[platform][camera]") {
  const std::string small = "test://?width=16&height=20&fps=0";
  const auto show = [](const std::string& uri, int count) {
    const auto camera = open_camera(uri);
    INFO(camera.status().what());
    REQUIRE(camera.ok());
    std::vector<Result<CameraPicture>> shown;
    for (int i = 0; i < count; ++i) shown.push_back(camera.value()->next());
    return shown;
  };
  const auto first = show(small, 40), again = show(small, 40), other = show(small + "&seed=2", 1);
  for (int i = 0; i < 40; ++i) {
    REQUIRE(first[i]->view().width() == 16);
    REQUIRE(first[i]->view().height() == 20);
    REQUIRE(first[i]->rgb().rgb == again[i]->rgb().rgb);
    if (i > 0) REQUIRE(first[i]->rgb().rgb != first[i - 1]->rgb().rgb);
  }
  CHECK(first[0]->rgb().rgb != other[0]->rgb().rgb);
  const auto codes = [&](const std::string& uri, int count) {
    std::vector<Code> found;
    for (const auto& image : show(small + uri, count)) found.push_back(image.status().code());
    return found;
  };
  constexpr Code ok = Code::ok, gone = Code::io_failure, bad = Code::bad_data,
                 end = Code::not_found;
  CHECK(codes("&frames=2", 4) == std::vector<Code>{ok, ok, end, end});
  CHECK(codes("&fail_every=2", 4) == std::vector<Code>{ok, gone, gone, gone});
  CHECK(codes("&garbage_every=2", 4) == std::vector<Code>{ok, bad, ok, bad});
  CHECK(codes("&stall_every=3", 4) == std::vector<Code>{ok, ok, gone, ok});
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
    REQUIRE(image->rgb().rgb == stage->view(shown[frame], frame)->rgb);
  }
  REQUIRE(camera.value()->next().status().code() == Code::not_found);
}

}  // namespace engram
