// A source of pictures. Others may supply one, so it is an interface.
//
//   v4l2:///dev/video0?width=640&height=480&fps=30   a camera on USB (also v4l2://0, /dev/video0)
//   csi://0?width=1280&height=720&fps=30&flip=0      a Jetson's ribbon-cable camera      GStreamer
//   rtsp://user:word@host/stream                     a camera on the network             GStreamer
//   file://video.mp4?loop=0                          a video at its own speed            GStreamer
//   file:///photos?fps=10&loop=0                     pictures of a folder, sorted by name
//   file:///photos/*.jpg                             or by a pattern; %3F is a question mark
//   photos, photos/*.jpg, cup.jpg                    the same without file://
//   stage://?seed=1&objects=12                       the virtual camera of the demo (camera_stage.h)
//   test://?width=320&height=240&fps=30              a moving pattern that can fail on purpose
//
// All parameters of each are in the message that refuses an address. Sources marked GStreamer need
// the module libengram_gstreamer.so (camera_plugin.h); everything else works without it.
//
// fps=0: as fast as they are asked for. loop=1: from the start again, for ever.
// test:// also takes frames=N (0: without end), seed=, and fail_every=N, stall_every=N,
// garbage_every=N: each N-th picture since it was opened is a failure of that kind instead.
#pragma once

#include <memory>
#include <string>

#include "platform/camera_picture.h"
#include "platform/status.h"

namespace engram {

class Camera {
 public:
  virtual ~Camera() = default;
  // The next picture, within about a second. Pictures that nobody asked for in time are dropped by
  // sources that cannot wait. Otherwise the code says what to do:
  //   not_found    the source has ended: a file or folder has been shown in full
  //   busy         nothing yet, nothing is wrong: a connection is being made. Ask again
  //   bad_data     this picture is garbage (a JPEG cut off). Ask again; many in a row: as below
  //   all others   stalled (io_failure), unplugged, refused: open it again
  virtual Result<CameraPicture> next() = 0;
};

// A URI that is not understood is refused with the list of those that are.
Result<std::unique_ptr<Camera>> open_camera(const std::string& uri);

}  // namespace engram
