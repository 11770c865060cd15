// Addresses that GStreamer reads: which pipeline each means, and the camera around the module.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "platform/camera.h"
#include "platform/camera_plugin.h"
#include "platform/camera_uri.h"

namespace engram {

struct StreamRequest {
  std::string name;      // in messages, without a password
  std::string pipeline;  // EngramVideoRequest's
  std::string location;
  bool loop = false;
  bool ends = false;  // a file has an end; when another source stops, it has failed
};

Result<StreamRequest> video_request(CameraUri uri);
Result<StreamRequest> csi_request(CameraUri uri);
Result<StreamRequest> rtsp_request(const std::string& uri);

// A network camera takes its time for the first picture: until kFirstPicture after it was opened,
// next() says busy instead of stalled.
inline constexpr std::chrono::seconds kFirstPicture{8};
Result<std::unique_ptr<Camera>> open_stream(const EngramVideoPlugin& plugin,
                                            const StreamRequest& request);

}  // namespace engram
