#include "platform/camera_stream.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "platform/camera_sources.h"
#include "platform/sentence.h"

namespace engram {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPatienceMs = 1000;

// Latest frame wins: the sink holds one picture, and a newer one replaces it. Decoders give 4:2:0, of
// which NV12 is a mere rearrangement.
constexpr const char* kToSink =
    " ! videoconvert ! video/x-raw,format={NV12,RGB} ! appsink name=sink max-buffers=1 drop=true";

class StreamCamera : public Camera {
 public:
  StreamCamera(const EngramVideoPlugin& plugin, StreamRequest request, void* video)
      : plugin_(plugin), request_(std::move(request)), video_(video) {}
  ~StreamCamera() override { plugin_.close(video_); }

  Result<CameraPicture> next() override {
    EngramPicture picture{};
    std::array<char, 512> why{};
    switch (plugin_.next(video_, kPatienceMs, &picture, why.data(), why.size())) {
      case ENGRAM_VIDEO_PICTURE:
        has_shown_ = true;
        return copied(picture);
      case ENGRAM_VIDEO_NOTHING:
        if (!has_shown_ && Clock::now() < opened_ + kFirstPicture) {
          return Status(Code::busy, fmt::format("{}: no picture yet", request_.name));
        }
        return Status(Code::io_failure,
                      fmt::format("{}: no picture has come for {}; it is opened again",
                                  request_.name, has_shown_ ? "a second" : "a while"));
      case ENGRAM_VIDEO_END:
        if (request_.ends && has_shown_) {
          return Status(Code::not_found, fmt::format("{}: has been shown in full.", request_.name));
        }
        return Status(Code::io_failure,
                      fmt::format("{}: {}", request_.name,
                                  request_.ends ? "has no pictures." : "has stopped sending."));
      default:
        why.back() = '\0';
        return Status(Code::io_failure, fmt::format("{}: {}", request_.name, sentence(why.data())));
    }
  }

 private:
  Result<CameraPicture> copied(const EngramPicture& picture) const {
    const auto& [pixels, width, height, stride, chroma, chroma_stride, kr, kb, full_range] =
        picture;
    const bool is_nv12 = chroma != nullptr;
    const bool sane = pixels != nullptr && width > 0 && height > 0 && width <= kMaxSide &&
                      height <= kMaxSide && std::int64_t{width} * height <= kMaxPixels &&
                      (is_nv12 ? stride >= width && chroma_stride >= width + width % 2 && kr > 0 &&
                                     kb > 0 && kr + kb < 1
                               : stride >= 3 * width);
    if (!sane) {
      return Status(Code::bad_data, fmt::format("{}: a picture of {} x {} pixels cannot be",
                                                request_.name, width, height));
    }
    if (is_nv12) {
      return CameraPicture::copy_of({{pixels, height, width, stride},
                                     {chroma, (height + 1) / 2, width + width % 2, chroma_stride},
                                     yuv_colours(kr, kb, full_range != 0)});
    }
    Image image{width, height, {}};
    const std::size_t row = std::size_t(width) * 3;
    image.rgb.resize(row * std::size_t(height));
    for (int y = 0; y < height; ++y) {
      std::copy_n(pixels + std::ptrdiff_t{y} * stride, row,
                  image.rgb.data() + std::size_t(y) * row);
    }
    return CameraPicture(std::move(image));
  }

  const EngramVideoPlugin& plugin_;
  StreamRequest request_;
  void* video_;
  bool has_shown_ = false;
  Clock::time_point opened_ = Clock::now();
};

OpenedCamera open_by_plugin(const Result<StreamRequest>& request) {
  if (!request.ok()) return request.status();
  ENGRAM_ASSIGN(const EngramVideoPlugin* plugin, video_plugin());
  return open_stream(*plugin, request.value());
}

}  // namespace

Result<StreamRequest> video_request(CameraUri uri) {
  ENGRAM_ASSIGN(const auto loop, uri.take_number("loop", 0, 0, 1));
  const std::string path = uri.take_path();
  ENGRAM_TRY(uri.nothing_else(kVideoAddress));
  return StreamRequest{.name = path,
                       .pipeline = std::string("filesrc name=source ! decodebin") + kToSink,
                       .location = path,
                       .loop = loop == 1,
                       .ends = true};
}

Result<StreamRequest> csi_request(CameraUri uri) {
  if (!uri.path.empty()) uri.parameters["sensor"] = uri.take_path();
  ENGRAM_ASSIGN(const auto number, uri.take_number("sensor", 0, 0, 15));
  ENGRAM_ASSIGN(const auto width, uri.take_number("width", 1280, 16, 8192));
  ENGRAM_ASSIGN(const auto height, uri.take_number("height", 720, 16, 8192));
  ENGRAM_ASSIGN(const auto fps, uri.take_number("fps", 30, 1, 240));
  ENGRAM_ASSIGN(const auto flip, uri.take_number("flip", 0, 0, 7));
  ENGRAM_TRY(uri.nothing_else(kCsiAddress));
  return StreamRequest{
      .name = fmt::format("csi://{}", number),
      .pipeline =
          fmt::format("nvarguscamerasrc sensor-id={} ! "
                      "video/x-raw(memory:NVMM),format=NV12,width={},height={},framerate={}/1 ! "
                      "nvvidconv flip-method={} ! video/x-raw,format=NV12{}",
                      number, width, height, fps, flip, kToSink),
      .location = {}};
}

Result<StreamRequest> rtsp_request(const std::string& uri) {
  const std::size_t host = uri.find("://");
  if (host == std::string::npos || host + 3 == uri.size()) {
    return Status(Code::invalid_argument, fmt::format("camera \"{}\": names no host. It is {}",
                                                      without_password(uri), kRtspAddress));
  }
  // UDP first; where nothing arrives that way within a second, TCP.
  return StreamRequest{
      .name = without_password(uri),
      .pipeline =
          std::string("rtspsrc name=source latency=100 timeout=1000000 tcp-timeout=3000000 ! "
                      "decodebin") +
          kToSink + " sync=false",
      .location = uri};
}

Result<std::unique_ptr<Camera>> open_stream(const EngramVideoPlugin& plugin,
                                            const StreamRequest& request) {
  const char* location = request.location.empty() ? nullptr : request.location.c_str();
  const EngramVideoRequest asked{request.pipeline.c_str(), location, request.loop ? 1 : 0};
  std::array<char, 512> why{};
  void* const video = plugin.open(&asked, why.data(), why.size());
  if (video == nullptr) {
    why.back() = '\0';
    return Status(Code::not_supported, fmt::format("{}: {}", request.name, sentence(why.data())));
  }
  return std::unique_ptr<Camera>(std::make_unique<StreamCamera>(plugin, request, video));
}

OpenedCamera open_video(CameraUri uri) {
  return open_by_plugin(video_request(std::move(uri)));
}
OpenedCamera open_csi(CameraUri uri) {
  return open_by_plugin(csi_request(std::move(uri)));
}
OpenedCamera open_rtsp(const std::string& uri) {
  return open_by_plugin(rtsp_request(uri));
}

}  // namespace engram
