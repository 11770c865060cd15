// One opened V4L2 node, closed when it goes; for platform/camera_v4l2*.cpp only.
#pragma once

#include <linux/videodev2.h>

#include <string>
#include <utility>

#include "platform/camera_v4l2.h"

namespace engram::v4l2 {

class Device {
 public:
  static Result<Device> open(V4l2Calls& calls, const std::string& path);
  Device(Device&& other) noexcept
      : calls_(other.calls_),
        path_(std::move(other.path_)),
        number_(std::exchange(other.number_, -1)) {}
  Device& operator=(Device&&) = delete;
  ~Device() {
    if (number_ >= 0) calls_->close(number_);
  }

  // -1 and errno when it fails. `argument` is one of videodev2.h's structures.
  template <class T>
  int control(unsigned long request, T& argument) const {
    return calls_->control(number_, request, &argument);
  }
  V4l2Calls& calls() const { return *calls_; }
  int number() const { return number_; }
  const std::string& path() const { return path_; }
  // What `error`, an errno of this device, means for the user while `doing` something.
  Status failure(int error, const char* doing) const;

 private:
  Device(V4l2Calls& calls, std::string path, int number)
      : calls_(&calls), path_(std::move(path)), number_(number) {}
  V4l2Calls* calls_;
  std::string path_;
  int number_;
};

// Capabilities of the node itself; not_supported when it is no V4L2 device at all.
Result<v4l2_capability> capabilities(const Device& device);
// Picks a format and a size, near what is wanted, that we can read.
Result<v4l2_pix_format> agree_on_format(const Device& device, const V4l2Request& request);

}  // namespace engram::v4l2
