// The cameras of a machine that is not this one: files stand for its nodes.
#include "platform/camera_list.h"

#include <filesystem>
#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

namespace engram {

TEST_CASE("camera list: nodes by number, with their names", "[platform][camera]") {
  const test::TempDirectory root;
  CHECK(list_cameras(root.path()).empty());
  std::filesystem::create_directories(root / "dev");
  std::filesystem::create_directories(root / "sys/class/video4linux/video2");
  for (const char* file : {"video10", "video2", "video", "videox", "vide0", "video3x"}) {
    std::ofstream(root / ("dev/" + std::string(file)));
  }
  std::ofstream(root / "sys/class/video4linux/video2/name") << "HD Webcam\nsecond line\n";
  const auto nodes = list_cameras(root.path());
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].path == "/dev/video2");
  CHECK(nodes[0].name == "HD Webcam");
  CHECK(nodes[0].use == CameraNode::Use::unknown);  // it is a file
  CHECK(test::says(nodes[0].why, "is not a camera"));
  CHECK(nodes[1].path == "/dev/video10");
  CHECK(nodes[1].name.empty());
}

}  // namespace engram
