// What GStreamer is asked for, and what its answers mean. With the real one: system/cameras_test.py.
#include "platform/camera_stream.h"

#include <cstring>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/says.h"

namespace engram {
namespace {

using test::says;

// A module that answers as told.
struct Script {
  std::vector<int> answers;
  std::size_t at = 0;
  EngramPicture picture{};
  int open_videos = 0;
  std::string location;
} script;

const EngramVideoPlugin kScripted{
    kVideoPluginVersion,
    [](const EngramVideoRequest* request, char* why, std::size_t bytes) -> void* {
      script.location = request->location == nullptr ? "none" : request->location;
      if (std::strstr(request->pipeline, "nvargus") != nullptr) {
        std::memset(why, 'x', bytes);  // a module that forgets the final zero
        return nullptr;
      }
      ++script.open_videos;
      return &script;
    },
    [](void*, int, EngramPicture* picture, char* why, std::size_t bytes) {
      std::strncpy(why, "it broke", bytes);
      *picture = script.picture;
      return script.answers.at(script.at++);
    },
    [](void*) { --script.open_videos; }};

StreamRequest video(const std::string& uri) {
  auto parsed = parse_camera_uri(uri);
  REQUIRE(parsed.ok());
  auto request = video_request(parsed.value());
  INFO(request.status().what());
  REQUIRE(request.ok());
  return request.value();
}

EngramPicture in_rgb(const std::uint8_t* pixels, int width, int height, int stride) {
  EngramPicture picture{};
  picture.pixels = pixels;
  picture.width = width;
  picture.height = height;
  picture.stride = stride;
  return picture;
}

Code next_code(Camera& camera) {
  return camera.next().status().code();
}

}  // namespace

TEST_CASE("camera stream: addresses become pipelines", "[platform][camera]") {
  const StreamRequest file = video("file:///a%20\"b\"!.mp4?loop=1");
  CHECK(file.location == "/a \"b\"!.mp4");  // handed over as it is, never as a part of the pipeline
  CHECK_FALSE(says(file.pipeline, "mp4"));
  CHECK(says(file.pipeline, "appsink name=sink max-buffers=1 drop=true"));
  CHECK(file.loop);
  CHECK(file.ends);

  const auto rtsp = rtsp_request("rtsp://me:word@10.0.0.5:554/live?channel=1&subtype=0&channel=2");
  REQUIRE(rtsp.ok());
  CHECK(rtsp->location == "rtsp://me:word@10.0.0.5:554/live?channel=1&subtype=0&channel=2");
  CHECK(rtsp->name == "rtsp://10.0.0.5:554/live?channel=1&subtype=0&channel=2");
  CHECK(says(rtsp->pipeline, "latency=100"));
  CHECK_FALSE(rtsp->ends);
  CHECK_FALSE(rtsp_request("rtsp://").ok());

  const auto csi = csi_request(parse_camera_uri("csi://1?width=640&height=480&flip=2").value());
  REQUIRE(csi.ok());
  CHECK(says(csi->pipeline, "nvarguscamerasrc sensor-id=1 ! video/x-raw(memory:NVMM)"));
  CHECK(says(csi->pipeline, "width=640,height=480,framerate=30/1 ! nvvidconv flip-method=2"));
  for (const char* wrong : {"csi://x", "csi://0 ! filesink", "csi://?flip=8", "csi://0?rotate=1"}) {
    CHECK(csi_request(parse_camera_uri(wrong).value()).status().code() == Code::invalid_argument);
  }
}

TEST_CASE("camera stream: pictures are copied, whatever their rows", "[platform][camera]") {
  const std::uint8_t rgb[] = {1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12, 0, 0};
  script = {{0, 0, 0, 0, 0, 0}, 0, in_rgb(rgb, 2, 2, 8), 0, ""};
  {
    const auto camera = open_stream(kScripted, video("file:///x.avi"));
    REQUIRE(camera.ok());
    CHECK(script.location == "/x.avi");
    const auto image = camera.value()->next();
    REQUIRE(image.ok());
    CHECK(image->rgb().rgb == std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    script.picture = in_rgb(rgb, 100'000, 100'000, 300'000);
    CHECK(next_code(*camera.value()) == Code::bad_data);
    script.picture = in_rgb(rgb, 3, 1, 8);  // rows that overlap
    CHECK(next_code(*camera.value()) == Code::bad_data);

    const std::uint8_t luma[] = {16, 50, 235, 0, 60, 70, 80, 0},
                       chroma[] = {90, 140, 100, 150, 0, 0};
    script.picture = {luma, 3, 2, 4, chroma, 6, 0.2126, 0.0722, 0};
    const auto nv12 = camera.value()->next();
    REQUIRE(nv12.ok());
    CHECK(nv12->view().is_nv12());
    CHECK(int(nv12->view().pixels(1, 2)) == 80);
    const Rgb seen = rgb_of(kBt709, 80, 100, 150);
    const std::uint8_t* last = nv12->rgb().rgb.data() + 3 * 5;
    CHECK(std::vector<int>{last[0], last[1], last[2]} ==
          std::vector<int>{seen.red, seen.green, seen.blue});
    script.picture.chroma_stride = 3;  // rows that overlap: an odd pixel has a pair to itself
    CHECK(next_code(*camera.value()) == Code::bad_data);
    script.picture.chroma_stride = 4;
    script.picture.kr = 1.5;  // no such colours
    CHECK(next_code(*camera.value()) == Code::bad_data);
  }
  CHECK(script.open_videos == 0);
}

TEST_CASE("camera stream: the end of a file, the silence of a camera", "[platform][camera]") {
  const std::uint8_t rgb[] = {1, 2, 3};
  script = {{1, 0, 1, 3, 2}, 0, in_rgb(rgb, 1, 1, 3), 0, ""};
  const auto file = open_stream(kScripted, video("file:///x.avi"));
  REQUIRE(file.ok());
  CHECK(next_code(*file.value()) == Code::busy);        // nothing yet
  CHECK(next_code(*file.value()) == Code::ok);          //
  CHECK(next_code(*file.value()) == Code::io_failure);  // nothing any more
  const Status broke = file.value()->next().status();
  CHECK(says(broke, "/x.avi: it broke."));
  CHECK(next_code(*file.value()) == Code::not_found);

  script = {{0, 2}, 0, in_rgb(rgb, 1, 1, 3), 0, ""};
  const auto network = open_stream(kScripted, rtsp_request("rtsp://a:b@host/x").value());
  REQUIRE(network.ok());
  CHECK(next_code(*network.value()) == Code::ok);
  const Status stopped = network.value()->next().status();
  CHECK(stopped.code() == Code::io_failure);  // it has no end: it is opened again
  CHECK_FALSE(says(stopped, "a:b"));

  script = {{2}, 0, {}, 0, ""};
  const auto empty = open_stream(kScripted, video("file:///empty.avi"));
  CHECK(says(empty.value()->next().status(), "has no pictures"));

  const auto refused =
      open_stream(kScripted, csi_request(parse_camera_uri("csi://0").value()).value());
  CHECK(refused.status().code() == Code::not_supported);
  CHECK(script.location == "none");
}

}  // namespace engram
