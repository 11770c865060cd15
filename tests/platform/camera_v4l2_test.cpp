// V4L2 without a camera: the test is the kernel, and breaks its promises one after another.
#include "platform/camera_v4l2.h"

#include <linux/videodev2.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "platform/camera_feed.h"
#include "tests/support/catch.h"
#include "tests/support/fake_v4l2.h"
#include "tests/support/picture_files.h"
#include "tests/support/says.h"

namespace engram {
namespace {

using test::FakeKernel;
using test::says;

const V4l2Request kSmall{.path = "/dev/video7", .width = 16, .height = 16, .fps = 30};

// A grey picture of 16 x 16 in YUYV.
FakeKernel::Frame grey(std::uint8_t luma) {
  FakeKernel::Frame frame;
  for (int i = 0; i < 16 * 16; ++i) {
    frame.bytes.push_back(std::byte{luma});
    frame.bytes.push_back(std::byte{128});
  }
  return frame;
}
int red_of(const Result<CameraPicture>& picture) {
  REQUIRE(picture.ok());
  REQUIRE(picture->rgb().width == 16);
  return picture->rgb().rgb[0];
}
// The red of grey(luma), by the definition.
int shown(int luma) {
  return int((luma - 16) / 219.0 * 255 + 0.5);
}

Status refused(FakeKernel& kernel, const V4l2Request& request = kSmall) {
  const auto camera = open_v4l2(kernel, request);
  REQUIRE_FALSE(camera.ok());
  CHECK(kernel.opened == 0);  // nothing stays behind
  CHECK(kernel.maps == 0);
  CHECK_FALSE(kernel.streaming);
  return camera.status();
}

}  // namespace

TEST_CASE("v4l2: frames come, buffers go back, all is released", "[platform][camera]") {
  FakeKernel kernel;
  for (int i = 0; i < 20; ++i) kernel.frames.push_back(grey(std::uint8_t(16 + 10 * i)));
  {
    const auto camera = open_v4l2(kernel, kSmall);
    INFO(camera.status().what());
    REQUIRE(camera.ok());
    CHECK(kernel.chosen == V4L2_PIX_FMT_YUYV);
    CHECK(kernel.maps == 4);
    CHECK(kernel.streaming);
    for (int i = 0; i < 20; ++i) {
      CHECK(red_of(camera.value()->next()) == shown(16 + 10 * i));
      CHECK(kernel.queued.size() == 4);
    }
    const Status stalled = camera.value()->next().status();
    CHECK(stalled.code() == Code::io_failure);
    CHECK(says(stalled, "no picture has come for a second"));
  }
  CHECK(kernel.opened == 0);
  CHECK(kernel.maps == 0);
  CHECK_FALSE(kernel.streaming);
}

TEST_CASE("v4l2: of the frames that wait, the newest", "[platform][camera]") {
  FakeKernel kernel;
  for (const int luma : {20, 30, 40}) {
    kernel.frames.push_back(grey(std::uint8_t(luma)));
    kernel.frames.back().with_next = luma != 40;
  }
  kernel.frames.push_back(grey(50));
  const auto camera = open_v4l2(kernel, kSmall);
  REQUIRE(camera.ok());
  CHECK(red_of(camera.value()->next()) == shown(40));
  CHECK(red_of(camera.value()->next()) == shown(50));
  CHECK(kernel.queued.size() == 4);
}

TEST_CASE("v4l2: the format that suits the size", "[platform][camera]") {
  const V4l2Request large{.path = "/dev/video7", .width = 1280, .height = 720, .fps = 30};
  struct Case {
    V4l2Request request;
    std::vector<std::uint32_t> offered;
    std::uint32_t chosen;
  };
  for (const Case& c : {Case{kSmall, {V4L2_PIX_FMT_MJPEG, V4L2_PIX_FMT_YUYV}, V4L2_PIX_FMT_YUYV},
                        Case{large, {V4L2_PIX_FMT_YUYV, V4L2_PIX_FMT_MJPEG}, V4L2_PIX_FMT_MJPEG},
                        Case{large, {V4L2_PIX_FMT_NV12, V4L2_PIX_FMT_SBGGR10}, V4L2_PIX_FMT_NV12},
                        Case{kSmall, {V4L2_PIX_FMT_MJPEG}, V4L2_PIX_FMT_MJPEG}}) {
    FakeKernel kernel;
    kernel.formats = c.offered;
    REQUIRE(open_v4l2(kernel, c.request).ok());
    CHECK(kernel.chosen == c.chosen);
  }
}

TEST_CASE("v4l2: NV12 stays NV12, in the colours that the driver tells", "[platform][camera]") {
  FakeKernel kernel;
  kernel.formats = {V4L2_PIX_FMT_NV12};
  FakeKernel::Frame frame;
  for (int i = 0; i < 16 * 24; ++i) {
    frame.bytes.push_back(std::byte(i < 16 * 16 ? i : 90 + i % 2 * 60));
  }
  struct Told {
    std::uint32_t colorspace, encoding, range;
    YuvColours colours;
  };
  const Told all[] = {
      {V4L2_COLORSPACE_DEFAULT, V4L2_YCBCR_ENC_DEFAULT, V4L2_QUANTIZATION_DEFAULT, kBt601},
      {V4L2_COLORSPACE_SRGB, V4L2_YCBCR_ENC_DEFAULT, V4L2_QUANTIZATION_DEFAULT, kBt601},
      {V4L2_COLORSPACE_REC709, V4L2_YCBCR_ENC_DEFAULT, V4L2_QUANTIZATION_DEFAULT, kBt709},
      {V4L2_COLORSPACE_SRGB, V4L2_YCBCR_ENC_709, V4L2_QUANTIZATION_DEFAULT, kBt709},
      {V4L2_COLORSPACE_JPEG, V4L2_YCBCR_ENC_DEFAULT, V4L2_QUANTIZATION_DEFAULT, kBt601Full},
      {V4L2_COLORSPACE_SRGB, V4L2_YCBCR_ENC_601, V4L2_QUANTIZATION_FULL_RANGE, kBt601Full}};
  for (const Told& told : all) {
    kernel.frames.push_back(frame);
    kernel.colorspace = told.colorspace;
    kernel.encoding = told.encoding;
    kernel.range = told.range;
    const auto camera = open_v4l2(kernel, kSmall);
    REQUIRE(camera.ok());
    const auto picture = camera.value()->next();
    REQUIRE(picture.ok());
    const PictureView view = picture->view();
    REQUIRE(view.is_nv12());
    CHECK(int(view.pixels(15, 3)) == 15 * 16 + 3);
    const Rgb seen = rgb_of(told.colours, 15 * 16 + 3, 90, 150);
    const std::uint8_t* rgb = picture->rgb().rgb.data() + 3 * (15 * 16 + 3);
    CHECK(std::vector<int>{rgb[0], rgb[1], rgb[2]} ==
          std::vector<int>{seen.red, seen.green, seen.blue});
  }
}

TEST_CASE("v4l2: motion JPEG, a broken one between two whole ones", "[platform][camera]") {
  FakeKernel kernel;
  kernel.formats = {V4L2_PIX_FMT_MJPEG};
  FakeKernel::Frame whole;
  whole.bytes = test::jpeg_file(test::gradient_picture(24, 10));
  FakeKernel::Frame half = whole;
  half.bytes.resize(whole.bytes.size() / 2);
  kernel.frames = {whole, half, whole};
  const auto camera = open_v4l2(kernel, kSmall);
  REQUIRE(camera.ok());
  const auto first = camera.value()->next();
  REQUIRE(first.ok());
  CHECK(first->rgb().width == 24);
  CHECK(camera.value()->next().status().code() == Code::bad_data);
  const auto third = camera.value()->next();
  REQUIRE(third.ok());
  CHECK(third->rgb().rgb == first->rgb().rgb);
}

TEST_CASE("v4l2: garbage is a bad picture, and the next one is fine", "[platform][camera]") {
  std::vector<FakeKernel::Frame> wrong(5, grey(99));
  wrong[0].bytesused = 0;
  wrong[1].bytesused = 0xffffffff;
  wrong[2].flags = V4L2_BUF_FLAG_ERROR;
  wrong[3].bytes.resize(511);
  wrong[4].error = EIO;
  for (const FakeKernel::Frame& frame : wrong) {
    FakeKernel kernel;
    kernel.frames = {frame, grey(50)};
    const auto camera = open_v4l2(kernel, kSmall);
    REQUIRE(camera.ok());
    CHECK(camera.value()->next().status().code() == Code::bad_data);
    CHECK(red_of(camera.value()->next()) == shown(50));
    CHECK(kernel.queued.size() == 4);
  }
}

TEST_CASE("v4l2: woken for nothing, it waits on", "[platform][camera]") {
  FakeKernel kernel;
  FakeKernel::Frame nothing;
  nothing.error = EAGAIN;
  kernel.frames = {nothing, nothing, grey(60)};
  const auto camera = open_v4l2(kernel, kSmall);
  REQUIRE(camera.ok());
  CHECK(red_of(camera.value()->next()) == shown(60));
}

TEST_CASE("v4l2: unplugged in the middle", "[platform][camera]") {
  FakeKernel::Frame gone;
  gone.error = ENODEV;
  FakeKernel::Frame fault = gone;  // what poll says of a device that is no more
  fault.ready = V4l2Calls::fault;
  FakeKernel::Frame quiet = fault;
  quiet.error = EAGAIN;
  FakeKernel::Frame liar = grey(1);
  liar.index = 4;
  for (const FakeKernel::Frame& frame : {gone, fault, quiet, liar}) {
    FakeKernel kernel;
    kernel.frames = {grey(50), frame};
    const auto camera = open_v4l2(kernel, kSmall);
    REQUIRE(camera.ok());
    CHECK(red_of(camera.value()->next()) == shown(50));
    const Status status = camera.value()->next().status();
    CHECK(status.code() == Code::io_failure);
    CHECK(says(status, frame.index < 0 ? "gone (unplugged?)" : "names a buffer that there is not"));
  }
  FakeKernel kernel;  // while the buffer goes back
  kernel.frames = {grey(50)};
  const auto camera = open_v4l2(kernel, kSmall);
  REQUIRE(camera.ok());
  kernel.errors[VIDIOC_QBUF] = ENODEV;
  CHECK(says(camera.value()->next().status(), "gone"));
}

TEST_CASE("v4l2: what cannot be opened says why and what to do", "[platform][camera]") {
  struct Case {
    int error;
    Code code;
    const char* words;
  };
  for (const Case& c :
       {Case{ENOENT, Code::not_found, "no such camera"},
        Case{EACCES, Code::io_failure, "group video"},
        Case{EBUSY, Code::busy, "another program uses"}, Case{ENODEV, Code::io_failure, "gone"},
        Case{EISDIR, Code::not_supported, "is not a camera"},
        Case{EMFILE, Code::io_failure, "opening it failed"}}) {
    FakeKernel kernel;
    kernel.open_error = c.error;
    const Status status = refused(kernel);
    CHECK(status.code() == c.code);
    CHECK(says(status, std::string("/dev/video7: ")));
    CHECK(says(status, c.words));
  }
  for (const unsigned long request : {VIDIOC_S_FMT, VIDIOC_REQBUFS, VIDIOC_STREAMON}) {
    FakeKernel kernel;
    kernel.errors[request] = EBUSY;
    CHECK(says(refused(kernel), "another program uses"));
  }
  for (const unsigned long request : {VIDIOC_QUERYBUF, VIDIOC_QBUF}) {
    FakeKernel kernel;
    kernel.errors[request] = EINVAL;
    CHECK(says(refused(kernel), "buffer"));
  }
  FakeKernel slow_port, no_memory, nothing_to_map;
  slow_port.errors[VIDIOC_STREAMON] = ENOSPC;
  CHECK(says(refused(slow_port), "USB connection is too slow"));
  no_memory.most_buffers = 0;
  CHECK(refused(no_memory).code() == Code::out_of_memory);
  nothing_to_map.map_error = ENOMEM;
  CHECK(refused(nothing_to_map).code() == Code::out_of_memory);
}

TEST_CASE("v4l2: devices that are no cameras", "[platform][camera]") {
  FakeKernel tty, notes, planes, raw, silent;
  tty.errors[VIDIOC_QUERYCAP] = ENOTTY;
  CHECK(says(refused(tty), "is not a camera"));
  notes.caps = V4L2_CAP_META_CAPTURE | V4L2_CAP_STREAMING;
  CHECK(says(refused(notes), "two nodes"));
  planes.caps = V4L2_CAP_VIDEO_CAPTURE_MPLANE | V4L2_CAP_STREAMING;
  CHECK(says(refused(planes), "several planes"));
  raw.formats = {V4L2_PIX_FMT_SRGGB10, 0x01020304};
  CHECK(says(refused(raw), "RG10, ???? only"));
  CHECK(says(refused(raw), "csi://0"));
  silent.formats = {};
  CHECK(says(refused(silent), "nothing at all"));
  CHECK(says(refused(tty), "/dev/video7"));
  CHECK(refused(tty).code() == Code::not_supported);

  FakeKernel webcam;
  const auto node = ask_v4l2(webcam, "/dev/video7");
  REQUIRE(node.ok());
  CHECK(node->is_capture);
  CHECK(node->name == std::string(32, 'x'));
  CHECK_FALSE(ask_v4l2(notes, "/dev/video7").value().is_capture);
  CHECK(webcam.opened == 0);
  const auto real = ask_v4l2(system_v4l2(), "/dev/null");  // the system's own calls
  CHECK(says(real.status(), "/dev/null: is not a camera"));
  CHECK(ask_v4l2(system_v4l2(), "/dev/video-none").status().code() == Code::not_found);
}

TEST_CASE("v4l2: sizes that cannot be are refused before memory is taken", "[platform][camera]") {
  for (const std::uint32_t size : {0u, 0xffffffffu, 90'000u}) {
    FakeKernel kernel;
    kernel.width = kernel.height = size;
    CHECK(says(refused(kernel), "which cannot be"));
  }
  FakeKernel overlapping;
  overlapping.stride = 31;  // two bytes for each of 16 pixels
  CHECK(says(refused(overlapping), "31 bytes a row"));
}

TEST_CASE("v4l2: 500 times unplugged and back behind a feed", "[platform][camera]") {
  std::size_t left_open = 0, left_mapped = 0;
  auto kernel = std::make_shared<std::unique_ptr<FakeKernel>>();
  const auto next_kernel = [&, kernel]() -> Result<std::unique_ptr<Camera>> {
    if (*kernel) {
      left_open += (*kernel)->opened;
      left_mapped += (*kernel)->maps;
    }
    *kernel = std::make_unique<FakeKernel>();
    FakeKernel::Frame gone;
    gone.error = ENODEV;
    (*kernel)->frames = {grey(50), gone};
    return open_v4l2(**kernel, kSmall);
  };
  {
    CameraFeed feed(next_kernel, std::chrono::milliseconds(0));
    for (std::uint64_t last = 0; last < 500;) {
      const Frame frame = feed.wait(last, std::chrono::seconds(20));
      REQUIRE(frame.number > last);
      last = frame.number;
    }
  }
  CHECK(left_open == 0);
  CHECK(left_mapped == 0);
  CHECK((*kernel)->opened == 0);
}

}  // namespace engram
