// The module that reads video files, network cameras and a Jetson's ribbon-cable cameras by GStreamer.
//
// GStreamer is 120 packages, so the program neither links with it nor needs it: at the first address
// that asks for it, libengram_gstreamer.so is loaded (camera_plugin.cpp says from where). Between the
// two is C only, with a version, so that neither has to be built with the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/status.h"

namespace engram {

extern "C" {

struct EngramVideoRequest {
  const char* pipeline;  // in the language of gst-launch-1.0, ending in "appsink name=sink"
  const char* location;  // of the element called "source", as it is: nothing is escaped. Or null
  int loop;              // 1: at the end from the start again
};

// Of the module, until its next call for the same video: RGB, or NV12 (picture_view.h).
struct EngramPicture {
  const std::uint8_t* pixels;
  int width, height, stride;
  const std::uint8_t* chroma;  // of NV12; null: RGB
  int chroma_stride;
  double kr, kb;   // of NV12: what luma has of red and blue
  int full_range;  // of NV12; 0: Y in 16..235
};

enum EngramVideoAnswer : int {
  ENGRAM_VIDEO_PICTURE = 0,
  ENGRAM_VIDEO_NOTHING = 1,  // in the given time
  ENGRAM_VIDEO_END = 2,
  ENGRAM_VIDEO_FAILED = 3,  // `why` says how
};

// `why` takes `why_bytes` bytes with their final zero; never null.
struct EngramVideoPlugin {
  std::uint32_t version;
  void* (*open)(const EngramVideoRequest* request, char* why, std::size_t why_bytes);  // null: why
  int (*next)(void* video, int milliseconds, EngramPicture* picture, char* why,
              std::size_t why_bytes);
  void (*close)(void* video);
};

}  // extern "C"

inline constexpr std::uint32_t kVideoPluginVersion = 2;
inline constexpr const char* kVideoPluginFile = "libengram_gstreamer.so";
inline constexpr const char* kVideoPluginEntry = "engram_video_plugin";
using VideoPluginEntry = const EngramVideoPlugin*();

// Loaded once, then kept. not_supported: what is missing, and what to install.
Result<const EngramVideoPlugin*> video_plugin();

}  // namespace engram
