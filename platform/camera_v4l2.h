// Cameras of the kernel's interface V4L2: USB webcams, capture cards.
//
// Frames are mapped, not copied; the newest that is ready is shown and older ones go back unread.
// Motion JPEG is preferred above 640 x 480, where raw pictures are too much for USB 2; else YUYV,
// then NV12. Raw sensors (Bayer) are refused with a hint at csi://.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "platform/camera.h"

namespace engram {

// The system's calls, so that a test can be the kernel. Each fails with -1 (or null) and errno.
class V4l2Calls {
 public:
  enum Ready : int { failed = -1, nothing = 0, frame = 1, fault = 2 };
  virtual ~V4l2Calls() = default;
  virtual int open(const char* path) = 0;  // for reading and writing, without waiting
  virtual void close(int device) = 0;
  virtual int control(int device, unsigned long request, void* argument) = 0;  // ioctl
  virtual void* map(int device, std::size_t bytes, std::int64_t offset) = 0;
  virtual void unmap(void* address, std::size_t bytes) = 0;
  virtual Ready wait(int device, int milliseconds) = 0;  // fault: the device is in an error state
};
V4l2Calls& system_v4l2();

struct V4l2Request {
  std::string path = "/dev/video0";
  int width = 640, height = 480;  // the camera takes the nearest that it can
  int fps = 30;                   // likewise
};
Result<std::unique_ptr<Camera>> open_v4l2(V4l2Calls& calls, const V4l2Request& request);

// What the node says of itself.
struct V4l2Node {
  std::string name;         // "HD Pro Webcam C920"
  bool is_capture = false;  // gives pictures; the second node of a webcam gives notes only
};
Result<V4l2Node> ask_v4l2(V4l2Calls& calls, const std::string& path);

}  // namespace engram
