// Streaming from a V4L2 node through mapped buffers.
#include "platform/camera_v4l2.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "platform/camera_pixels.h"
#include "platform/camera_sources.h"
#include "platform/camera_v4l2_device.h"

namespace engram {
namespace {

using Clock = std::chrono::steady_clock;
using v4l2::Device;

constexpr std::uint32_t kBuffers = 4;
constexpr std::chrono::milliseconds kPatience{1000};

v4l2_buffer empty_buffer(std::uint32_t index = 0) {
  v4l2_buffer buffer{};
  buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  buffer.memory = V4L2_MEMORY_MMAP;
  buffer.index = index;
  return buffer;
}

class V4l2Camera : public Camera {
 public:
  V4l2Camera(Device device, const FrameLayout& layout)
      : device_(std::move(device)), layout_(layout) {}

  ~V4l2Camera() override {
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    device_.control(VIDIOC_STREAMOFF, type);
    for (const Mapped& buffer : buffers_) device_.calls().unmap(buffer.address, buffer.bytes);
  }

  Status start() {
    v4l2_requestbuffers asked{};
    asked.count = kBuffers;
    asked.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    asked.memory = V4L2_MEMORY_MMAP;
    if (device_.control(VIDIOC_REQBUFS, asked) != 0) {
      return device_.failure(errno, "asking for buffers");
    }
    if (asked.count == 0) return device_.failure(ENOMEM, "asking for buffers");
    for (std::uint32_t i = 0; i < std::min(asked.count, kBuffers); ++i) ENGRAM_TRY(add_buffer(i));
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    if (device_.control(VIDIOC_STREAMON, type) != 0) return device_.failure(errno, "starting it");
    return {};
  }

  Result<CameraPicture> next() override {
    ENGRAM_ASSIGN(const v4l2_buffer newest, wait_for_newest());
    Result<CameraPicture> picture = read(newest);
    v4l2_buffer back = empty_buffer(newest.index);
    if (device_.control(VIDIOC_QBUF, back) != 0) {
      return device_.failure(errno, "giving a buffer back");
    }
    return picture;
  }

 private:
  struct Mapped {
    void* address;
    std::size_t bytes;
  };

  Status add_buffer(std::uint32_t index) {
    v4l2_buffer buffer = empty_buffer(index);
    if (device_.control(VIDIOC_QUERYBUF, buffer) != 0) {
      return device_.failure(errno, "asking for a buffer");
    }
    void* const address = device_.calls().map(device_.number(), buffer.length, buffer.m.offset);
    if (address == nullptr) return device_.failure(errno, "mapping a buffer");
    buffers_.push_back({address, buffer.length});
    if (device_.control(VIDIOC_QBUF, buffer) != 0) {
      return device_.failure(errno, "handing a buffer over");
    }
    return {};
  }

  Result<v4l2_buffer> wait_for_newest() {
    const Clock::time_point end = Clock::now() + kPatience;
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
      if (left.count() <= 0) {
        return Status(Code::io_failure, fmt::format("{}: the camera is there, but no picture has "
                                                    "come for a second; it is opened again",
                                                    device_.path()));
      }
      const V4l2Calls::Ready ready =
          device_.calls().wait(device_.number(), static_cast<int>(left.count()));
      if (ready == V4l2Calls::failed) return device_.failure(errno, "waiting for a picture");
      if (ready == V4l2Calls::nothing) continue;
      ENGRAM_ASSIGN(const std::optional<v4l2_buffer> newest, take_newest(ready));
      if (newest) return *newest;
    }
  }

  // Of the frames that are ready, the newest; none when the kernel changed its mind.
  Result<std::optional<v4l2_buffer>> take_newest(V4l2Calls::Ready ready) {
    std::optional<v4l2_buffer> newest;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      v4l2_buffer taken = empty_buffer();
      if (device_.control(VIDIOC_DQBUF, taken) != 0) {
        const int error = errno;
        if (newest) break;  // what failed is met again, by the next call
        if (ready == V4l2Calls::fault) {
          return device_.failure(error == EAGAIN ? ENODEV : error, "taking a picture");
        }
        if (error == EAGAIN) break;
        if (error == EIO) {  // the documented answer to a passing loss of signal
          return Status(Code::bad_data,
                        fmt::format("{}: the camera lost its signal", device_.path()));
        }
        return device_.failure(error, "taking a picture");
      }
      if (taken.index >= buffers_.size()) {
        return Status(Code::io_failure, fmt::format("{}: its driver names a buffer that there is "
                                                    "not; unplug the camera and plug it in again",
                                                    device_.path()));
      }
      if (newest) {
        v4l2_buffer older = empty_buffer(newest->index);
        if (device_.control(VIDIOC_QBUF, older) != 0) {
          return device_.failure(errno, "giving a buffer back");
        }
      }
      newest = taken;
    }
    return newest;
  }

  Result<CameraPicture> read(const v4l2_buffer& buffer) const {
    const Mapped& mapped = buffers_[buffer.index];
    if ((buffer.flags & V4L2_BUF_FLAG_ERROR) != 0 || buffer.bytesused == 0 ||
        buffer.bytesused > mapped.bytes) {
      return Status(Code::bad_data, fmt::format("{}: a picture came broken ({} bytes)",
                                                device_.path(), buffer.bytesused));
    }
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(mapped.address),
                                           buffer.bytesused);
    return read_frame(layout_, bytes, device_.path());
  }

  Device device_;
  FrameLayout layout_;
  std::vector<Mapped> buffers_;
};

// What the driver says, or what V4L2 says of a camera whose driver says nothing.
YuvColours colours_of(const v4l2_pix_format& format) {
  std::uint32_t encoding = format.ycbcr_enc, range = format.quantization;
  if (encoding == V4L2_YCBCR_ENC_DEFAULT) {
    encoding = V4L2_MAP_YCBCR_ENC_DEFAULT(format.colorspace);
  }
  if (range == V4L2_QUANTIZATION_DEFAULT) {
    range = V4L2_MAP_QUANTIZATION_DEFAULT(false, format.colorspace, encoding);
  }
  const bool full = range == V4L2_QUANTIZATION_FULL_RANGE;
  if (encoding == V4L2_YCBCR_ENC_709 || encoding == V4L2_YCBCR_ENC_XV709) {
    return yuv_colours(0.2126, 0.0722, full);
  }
  return full ? kBt601Full : kBt601;
}

Result<FrameLayout> layout_of(const v4l2_pix_format& format, const std::string& path) {
  constexpr std::uint32_t kMost = std::numeric_limits<int>::max();
  FrameLayout layout;
  layout.width = static_cast<int>(std::min(format.width, kMost));
  layout.height = static_cast<int>(std::min(format.height, kMost));
  layout.stride = static_cast<int>(std::min(format.bytesperline, kMost));
  layout.colours = colours_of(format);
  if (format.pixelformat == V4L2_PIX_FMT_YUYV) {
    layout.format = PixelFormat::yuyv;
  } else if (format.pixelformat == V4L2_PIX_FMT_NV12) {
    layout.format = PixelFormat::nv12;
  }
  if (layout.stride == 0 && layout.width <= kMaxSide) {  // some drivers leave it out
    const int even = layout.width + layout.width % 2;
    layout.stride = layout.format == PixelFormat::yuyv ? 2 * even : even;
  }
  ENGRAM_TRY(check_layout(layout, path));
  return layout;
}

// A wish: not every camera has a choice.
void ask_for_rate(const Device& device, int fps) {
  v4l2_streamparm rate{};
  rate.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  rate.parm.capture.timeperframe = {1, static_cast<std::uint32_t>(fps)};
  device.control(VIDIOC_S_PARM, rate);
}

}  // namespace

Result<std::unique_ptr<Camera>> open_v4l2(V4l2Calls& calls, const V4l2Request& request) {
  ENGRAM_ASSIGN(Device device, Device::open(calls, request.path));
  ENGRAM_ASSIGN(const v4l2_capability found, v4l2::capabilities(device));
  if ((found.capabilities & V4L2_CAP_VIDEO_CAPTURE_MPLANE) != 0) {
    return Status(
        Code::not_supported,
        fmt::format("{}: gives its pictures in several planes, which is not supported here. "
                    "A Jetson's ribbon-cable camera is csi://0",
                    request.path));
  }
  if ((found.capabilities & V4L2_CAP_VIDEO_CAPTURE) == 0 ||
      (found.capabilities & V4L2_CAP_STREAMING) == 0) {
    return Status(
        Code::not_supported,
        fmt::format("{}: is a video device, but not one that gives pictures. A webcam has "
                    "two nodes: try the one before; `engram doctor` lists them",
                    request.path));
  }
  ENGRAM_ASSIGN(const v4l2_pix_format format, v4l2::agree_on_format(device, request));
  ENGRAM_ASSIGN(const FrameLayout layout, layout_of(format, request.path));
  ask_for_rate(device, request.fps);
  auto camera = std::make_unique<V4l2Camera>(std::move(device), layout);
  ENGRAM_TRY(camera->start());
  return std::unique_ptr<Camera>(std::move(camera));
}

OpenedCamera open_v4l2(CameraUri uri) {
  V4l2Request request;
  ENGRAM_ASSIGN(const auto width, uri.take_number("width", request.width, 16, 8192));
  ENGRAM_ASSIGN(const auto height, uri.take_number("height", request.height, 16, 8192));
  ENGRAM_ASSIGN(const auto fps, uri.take_number("fps", request.fps, 1, 1000));
  const std::string path = uri.take_path();
  ENGRAM_TRY(uri.nothing_else(kV4l2Address));
  request.width = static_cast<int>(width);
  request.height = static_cast<int>(height);
  request.fps = static_cast<int>(fps);
  const bool is_number = path.find_first_not_of("0123456789") == std::string::npos;
  if (!path.empty()) {  // 0, dev/video0 (a slash short), /dev/video0
    request.path = is_number ? "/dev/video" + path : path.front() == '/' ? path : "/" + path;
  }
  return open_v4l2(system_v4l2(), request);
}

}  // namespace engram
