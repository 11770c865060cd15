// libengram_gstreamer.so: camera_plugin.h's module. Only where CMake finds GStreamer.
#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "platform/camera_plugin.h"

namespace {

using namespace engram;
using Clock = std::chrono::steady_clock;

struct Text {
  char* bytes;
  std::size_t size;
  void say(const std::string& text) const { std::snprintf(bytes, size, "%s", text.c_str()); }
};

// What is missing, by the words of GStreamer's messages, and where it is to be had.
std::string with_advice(std::string text) {
  const auto has = [&text](std::string_view words) {
    return text.find(words) != std::string::npos;
  };
  if (has("nvarguscamerasrc") || has("nvvidconv")) {
    text += ". This needs a Jetson with JetPack's package nvidia-l4t-gstreamer";
  } else if (has("no element") || has("missing a plug-in") || has("No decoder")) {
    text += ". Install gstreamer1.0-plugins-good, gstreamer1.0-plugins-bad, gstreamer1.0-libav";
  }
  return text;
}

// The message, and the last line of the notes behind it, which has the reason.
std::string text_of(GstMessage* message, const std::string& secret) {
  GError* error = nullptr;
  gchar* notes = nullptr;
  gst_message_parse_error(message, &error, &notes);
  std::string text = error == nullptr ? "GStreamer failed" : error->message;
  if (notes != nullptr) {
    const std::string_view all = notes;
    const std::size_t line = all.rfind('\n');
    if (line != std::string_view::npos && line + 1 < all.size()) {
      text += " (" + std::string(all.substr(line + 1)) + ")";
    }
  }
  g_clear_error(&error);
  g_free(notes);
  for (std::size_t at; !secret.empty() && (at = text.find(secret)) != std::string::npos;) {
    text.erase(at, secret.size());
  }
  return with_advice(text);
}

// "name:password@" of an address; messages go to pages and logs.
std::string secret_of(const char* location) {
  const std::string_view text = location == nullptr ? "" : location;
  const std::size_t host = text.find("://");
  if (host == std::string_view::npos) return {};
  const std::size_t end = std::min(text.find_first_of("/?", host + 3), text.size());
  const std::size_t at = text.substr(0, end).rfind('@');
  return at == std::string_view::npos || at < host + 3
             ? std::string()
             : std::string(text.substr(host + 3, at + 1 - host - 3));
}

class Video {
 public:
  explicit Video(const EngramVideoRequest& request)
      : secret_(secret_of(request.location)), loop_(request.loop != 0) {}
  Video(const Video&) = delete;
  Video& operator=(const Video&) = delete;
  ~Video() {
    let_go();
    if (pipeline_ != nullptr) gst_element_set_state(pipeline_, GST_STATE_NULL);
    if (bus_ != nullptr) gst_object_unref(bus_);
    if (sink_ != nullptr) gst_object_unref(sink_);
    if (pipeline_ != nullptr) gst_object_unref(pipeline_);
  }

  bool start(const EngramVideoRequest& request, const Text& why) {
    GError* error = nullptr;
    pipeline_ =
        gst_parse_launch_full(request.pipeline, nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error);
    if (pipeline_ == nullptr) {
      why.say(with_advice(error == nullptr ? "no such pipeline" : error->message));
      g_clear_error(&error);
      return false;
    }
    g_clear_error(&error);
    sink_ = gst_bin_get_by_name(GST_BIN(pipeline_), "sink");
    bus_ = gst_element_get_bus(pipeline_);
    if (sink_ == nullptr || !GST_IS_APP_SINK(sink_)) {
      why.say("the pipeline has no appsink called sink");
      return false;
    }
    if (request.location != nullptr) {
      GstElement* const source = gst_bin_get_by_name(GST_BIN(pipeline_), "source");
      if (source == nullptr) {
        why.say("the pipeline has no source");
        return false;
      }
      g_object_set(source, "location", request.location, nullptr);
      gst_object_unref(source);
    }
    // What cannot start now may do so later: next() tells it, and the source is opened again.
    if (gst_element_set_state(pipeline_, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE &&
        !failed()) {
      failure_ = "GStreamer cannot start it";
    }
    return true;
  }

  EngramVideoAnswer next(int milliseconds, EngramPicture& picture, const Text& why) {
    let_go();
    const Clock::time_point end = Clock::now() + std::chrono::milliseconds(milliseconds);
    do {
      sample_ = gst_app_sink_try_pull_sample(GST_APP_SINK(sink_), 20 * GST_MSECOND);
      if (sample_ != nullptr) return show(picture, why);
      if (failed()) {
        why.say(failure_);
        return ENGRAM_VIDEO_FAILED;
      }
      if (gst_app_sink_is_eos(GST_APP_SINK(sink_)) && !from_the_start()) return ENGRAM_VIDEO_END;
    } while (Clock::now() < end);
    return ENGRAM_VIDEO_NOTHING;
  }

 private:
  EngramVideoAnswer show(EngramPicture& picture, const Text& why) {
    GstVideoInfo info;
    GstCaps* const caps = gst_sample_get_caps(sample_);
    const bool known = caps != nullptr && gst_video_info_from_caps(&info, caps) != FALSE;
    const bool is_nv12 = known && GST_VIDEO_INFO_FORMAT(&info) == GST_VIDEO_FORMAT_NV12;
    if (!known || (!is_nv12 && GST_VIDEO_INFO_FORMAT(&info) != GST_VIDEO_FORMAT_RGB) ||
        !gst_video_frame_map(&frame_, &info, gst_sample_get_buffer(sample_), GST_MAP_READ)) {
      why.say("GStreamer gave a picture that is neither NV12 nor RGB");
      return ENGRAM_VIDEO_FAILED;
    }
    is_mapped_ = true;
    has_shown_ = true;
    const auto plane = [this](int i) {
      return static_cast<const std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, i));
    };
    picture = {};
    picture.pixels = plane(0);
    picture.width = GST_VIDEO_FRAME_WIDTH(&frame_);
    picture.height = GST_VIDEO_FRAME_HEIGHT(&frame_);
    picture.stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, 0);
    if (!is_nv12) return ENGRAM_VIDEO_PICTURE;
    picture.chroma = plane(1);
    picture.chroma_stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, 1);
    picture.full_range = info.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
    if (!gst_video_color_matrix_get_Kr_Kb(info.colorimetry.matrix, &picture.kr, &picture.kb)) {
      picture.kr = 0.299;  // BT.601, for who does not say
      picture.kb = 0.114;
    }
    return ENGRAM_VIDEO_PICTURE;
  }

  void let_go() {
    if (is_mapped_) gst_video_frame_unmap(&frame_);
    if (sample_ != nullptr) gst_sample_unref(sample_);
    is_mapped_ = false;
    sample_ = nullptr;
  }

  bool failed() {
    for (GstMessage* message; failure_.empty() && (message = gst_bus_pop(bus_)) != nullptr;) {
      if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) failure_ = text_of(message, secret_);
      gst_message_unref(message);
    }
    return !failure_.empty();
  }

  // A video without a single picture is not tried for ever.
  bool from_the_start() {
    if (!loop_ || !has_shown_) return false;
    has_shown_ = false;
    constexpr auto kHow = GstSeekFlags(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_KEY_UNIT);
    return gst_element_seek_simple(pipeline_, GST_FORMAT_TIME, kHow, 0) != FALSE;
  }

  std::string secret_, failure_;
  bool loop_;
  GstElement* pipeline_ = nullptr;
  GstElement* sink_ = nullptr;
  GstBus* bus_ = nullptr;
  GstSample* sample_ = nullptr;
  GstVideoFrame frame_{};
  bool is_mapped_ = false, has_shown_ = false;
};

void* open_video(const EngramVideoRequest* request, char* why, std::size_t why_bytes) {
  const Text text{why, why_bytes};
  try {
    GError* error = nullptr;
    if (!gst_init_check(nullptr, nullptr, &error)) {
      text.say(error == nullptr ? "GStreamer does not start" : error->message);
      g_clear_error(&error);
      return nullptr;
    }
    auto video = std::make_unique<Video>(*request);
    return video->start(*request, text) ? video.release() : nullptr;
  } catch (const std::bad_alloc&) {
    std::snprintf(why, why_bytes, "not enough memory");
    return nullptr;
  }
}

int next_picture(void* video, int milliseconds, EngramPicture* picture, char* why,
                 std::size_t why_bytes) {
  try {
    return static_cast<Video*>(video)->next(milliseconds, *picture, Text{why, why_bytes});
  } catch (const std::bad_alloc&) {
    std::snprintf(why, why_bytes, "not enough memory");
    return ENGRAM_VIDEO_FAILED;
  }
}

void close_video(void* video) {
  delete static_cast<Video*>(video);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const engram::EngramVideoPlugin*
engram_video_plugin() {
  static const EngramVideoPlugin kPlugin{kVideoPluginVersion, open_video, next_picture,
                                         close_video};
  return &kPlugin;
}
