// For cameras_test.py: opens an address and says what comes, one line each.
//   camera_dump ADDRESS COUNT
//       "frame WIDTH HEIGHT R G B FORMAT" with the colour of the middle, or "CODE MESSAGE" for what is no
//       picture; until COUNT lines were written or the source has ended. Not-yets are passed over.
#include <cstdio>
#include <cstdlib>

#include "platform/camera.h"

using namespace engram;

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto camera = open_camera(argv[1]);
  if (!camera.ok()) {
    std::printf("%s %s\n", name(camera.status().code()), camera.status().what());
    return 1;
  }
  for (int i = 0; i < std::atoi(argv[2]);) {
    const auto picture = camera.value()->next();
    if (picture.status().code() == Code::busy) continue;
    ++i;
    if (picture.ok()) {
      const Image& image = picture->rgb();
      const std::uint8_t* middle =
          image.rgb.data() + 3 * (std::size_t(image.height / 2) * image.width + image.width / 2);
      std::printf("frame %d %d %d %d %d %s\n", image.width, image.height, middle[0], middle[1],
                  middle[2], picture->view().is_nv12() ? "nv12" : "rgb");
    } else {
      std::printf("%s %s\n", name(picture.status().code()), picture.status().what());
      if (picture.status().code() == Code::not_found) break;
    }
    std::fflush(stdout);
  }
  return 0;
}
