// The kinds of sources, each opened from its parsed address; for camera.cpp and tests.
#pragma once

#include <memory>
#include <string>

#include "platform/camera.h"
#include "platform/camera_uri.h"
#include "platform/status.h"

namespace engram {

using OpenedCamera = Result<std::unique_ptr<Camera>>;

// `camera` at no more than `fps` pictures a second, 1 to 1000; 0: as fast as it goes.
std::unique_ptr<Camera> paced(std::unique_ptr<Camera> camera, int fps);

// ---- camera_files.cpp: pictures of a folder, a pattern (* ? [ ]) or one file ---------------------
inline constexpr const char* kFilesAddress = "file:///DIR_OR_PATTERN?fps=10&loop=0";
OpenedCamera open_picture_files(CameraUri uri);

// ---- camera_pattern.cpp: test:// ------------------------------------------------------------------
inline constexpr const char* kPatternAddress =
    "test://"
    "?width=320&height=240&fps=30&frames=0&seed=1&fail_every=0&stall_every=0&garbage_every=0";
OpenedCamera open_pattern(CameraUri uri);

// ---- camera_v4l2.cpp ------------------------------------------------------------------------------
inline constexpr const char* kV4l2Address = "v4l2:///dev/video0?width=640&height=480&fps=30";
OpenedCamera open_v4l2(CameraUri uri);

// ---- camera_stream.cpp: what GStreamer reads ------------------------------------------------------
inline constexpr const char* kVideoAddress = "file://VIDEO?loop=0";
inline constexpr const char* kCsiAddress = "csi://0?width=1280&height=720&fps=30&flip=0";
inline constexpr const char* kRtspAddress = "rtsp://USER:PASSWORD@HOST/STREAM";
OpenedCamera open_video(CameraUri uri);
OpenedCamera open_csi(CameraUri uri);
OpenedCamera open_rtsp(const std::string& uri);  // its own parameters belong to the camera

}  // namespace engram
