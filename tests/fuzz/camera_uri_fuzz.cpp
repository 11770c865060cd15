// Any text as a camera's address: refused with a sentence, or parts that are what they promise. Nothing
// is opened.
#include <string>

#include "platform/camera_stream.h"
#include "platform/camera_uri.h"
#include "tests/fuzz/fuzz_target.h"

using namespace engram;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  ENGRAM_CHECK(without_password(text).size() <= text.size());
  if (const auto rtsp = rtsp_request(text); rtsp.ok()) ENGRAM_CHECK(rtsp.value().location == text);
  const auto parsed = parse_camera_uri(text);
  if (!parsed.ok()) return 0;
  ENGRAM_CHECK(!parsed.value().scheme.empty());
  ENGRAM_CHECK(parsed.value().path.find('\0') == std::string::npos);
  ENGRAM_CHECK(nearest_scheme(parsed.value().scheme).size() <= 5);
  if (const auto video = video_request(parsed.value()); video.ok()) {
    ENGRAM_CHECK(video.value().location == parsed.value().path);
  }
  if (const auto csi = csi_request(parsed.value()); csi.ok()) {
    ENGRAM_CHECK(csi.value().pipeline.size() < 400);  // numbers only, whatever the address holds
  }
  CameraUri uri = parsed.value();
  const auto width = uri.take_number("width", 640, 16, 4096);
  ENGRAM_CHECK(!width.ok() || (width.value() >= 16 && width.value() <= 4096));
  ENGRAM_CHECK(uri.parameters.count("width") == 0);
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  return {"v4l2:///dev/video0?width=640&height=480&fps=30",
          "csi://0?width=1280&height=720&fps=30&flip=2",
          "rtsp://me:word@host:554/live?channel=1&subtype=0",
          "file:///photos/a%20b/*.jpg?fps=10&loop=1", "stage://?seed=1&objects=12&stamps=/a%26b"};
}
