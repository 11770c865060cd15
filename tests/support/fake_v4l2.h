// A kernel with one V4L2 camera, for tests: it says whatever it is told to, and notices buffers that
// are handed over twice.
#pragma once

#include <linux/videodev2.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "platform/camera_v4l2.h"
#include "tests/support/catch.h"

namespace engram::test {

// Its frames are handed out in the order of `frames`; then nothing comes.
class FakeKernel : public V4l2Calls {
 public:
  struct Frame {
    std::vector<std::byte> bytes;
    int error = 0;                // of DQBUF, instead of a frame
    std::int64_t bytesused = -1;  // what it claims; -1: the truth
    std::uint32_t flags = 0;
    std::int64_t index = -1;  // what it claims; -1: the truth
    bool with_next = false;   // ready together with the one behind it
    Ready ready = frame;
  };
  std::vector<std::uint32_t> formats = {V4L2_PIX_FMT_MJPEG, V4L2_PIX_FMT_YUYV};
  std::uint32_t caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
  std::map<unsigned long, int> errors;  // request to errno
  int open_error = 0, map_error = 0;
  std::int64_t width = -1, height = -1;  // it insists on these; -1: as asked
  std::uint32_t stride = 0;
  std::uint32_t colorspace = 0, encoding = 0, range = 0;  // 0: it says nothing
  std::uint32_t buffer_bytes = 4096, most_buffers = 8;
  std::vector<Frame> frames;

  std::uint32_t chosen = 0;          // by S_FMT
  std::size_t maps = 0, opened = 0;  // now
  bool streaming = false;
  std::set<std::uint32_t> queued;

  int open(const char*) override {
    if (open_error != 0) return fail(open_error);
    ++opened;
    return 42;
  }
  void close(int device) override {
    CHECK(device == 42);
    --opened;
    queued.clear();
  }
  void* map(int, std::size_t bytes, std::int64_t offset) override {
    if (map_error != 0) return fail(map_error), nullptr;
    CHECK(bytes == buffer_bytes);
    ++maps;
    buffers_[std::uint32_t(offset)].assign(bytes, std::byte{0});
    return buffers_[std::uint32_t(offset)].data();
  }
  void unmap(void*, std::size_t bytes) override {
    CHECK(bytes == buffer_bytes);
    --maps;
  }
  Ready wait(int, int) override {
    if (at_ == frames.size()) return nothing;
    pending_ = 1;
    while (frames[at_ + pending_ - 1].with_next) ++pending_;
    return frames[at_].ready;
  }
  int control(int, unsigned long request, void* argument) override {
    if (const auto error = errors.find(request); error != errors.end()) return fail(error->second);
    switch (request) {
      case VIDIOC_QUERYCAP: {
        auto& asked = *static_cast<v4l2_capability*>(argument);
        std::memset(asked.card, 'x', sizeof asked.card);  // without an end, as no name should be
        asked.capabilities = V4L2_CAP_DEVICE_CAPS | V4L2_CAP_VIDEO_CAPTURE;
        asked.device_caps = caps;
        return 0;
      }
      case VIDIOC_ENUM_FMT: {
        auto& entry = *static_cast<v4l2_fmtdesc*>(argument);
        if (entry.index >= formats.size()) return fail(EINVAL);
        entry.pixelformat = formats[entry.index];
        return 0;
      }
      case VIDIOC_S_FMT:
        return set_format(static_cast<v4l2_format*>(argument)->fmt.pix);
      case VIDIOC_REQBUFS: {
        auto& asked = *static_cast<v4l2_requestbuffers*>(argument);
        asked.count = std::min(asked.count, most_buffers);
        return 0;
      }
      case VIDIOC_QUERYBUF: {
        auto& asked = *static_cast<v4l2_buffer*>(argument);
        asked.length = buffer_bytes;
        asked.m.offset = asked.index;
        return 0;
      }
      case VIDIOC_QBUF:
        CHECK(queued.insert(static_cast<v4l2_buffer*>(argument)->index).second);
        return 0;
      case VIDIOC_DQBUF:
        return hand_out(*static_cast<v4l2_buffer*>(argument));
      case VIDIOC_STREAMON:
      case VIDIOC_STREAMOFF:
        streaming = request == VIDIOC_STREAMON;
        return 0;
      default:
        return fail(ENOTTY);  // S_PARM, which not every camera knows
    }
  }

 private:
  static int fail(int error) {
    errno = error;
    return -1;
  }
  int set_format(v4l2_pix_format& format) {
    if (width >= 0) format.width = std::uint32_t(width);
    if (height >= 0) format.height = std::uint32_t(height);
    chosen = format.pixelformat;
    format.bytesperline = stride;
    format.colorspace = colorspace;
    if (format.priv == V4L2_PIX_FMT_PRIV_MAGIC) {  // only who knows of these is told
      format.ycbcr_enc = encoding;
      format.quantization = range;
    }
    return 0;
  }
  int hand_out(v4l2_buffer& buffer) {
    if (pending_ == 0) return fail(EAGAIN);
    --pending_;
    const Frame& next = frames[at_++];
    if (next.error != 0) return fail(next.error);
    if (queued.empty()) return fail(EAGAIN);
    const std::uint32_t index = *queued.begin();
    queued.erase(index);
    std::copy(next.bytes.begin(), next.bytes.end(), buffers_[index].begin());
    buffer.index = next.index < 0 ? index : std::uint32_t(next.index);
    buffer.bytesused =
        std::uint32_t(next.bytesused < 0 ? std::int64_t(next.bytes.size()) : next.bytesused);
    buffer.flags = next.flags;
    return 0;
  }

  std::map<std::uint32_t, std::vector<std::byte>> buffers_;
  std::size_t at_ = 0, pending_ = 0;
};

}  // namespace engram::test
