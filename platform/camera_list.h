// The cameras of this machine: for `engram doctor`, and for faces that offer a choice.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace engram {

struct CameraNode {
  enum class Use : std::uint8_t {
    capture,  // gives pictures: v4l2://<path>
    other,    // the second node of a webcam, a decoder
    unknown,  // it cannot be asked; `why` says why
  };
  std::string path;  // "/dev/video0"
  std::string name;  // "HD Pro Webcam C920", as the driver says; may be empty. Not to be trusted
  Use use = Use::unknown;
  std::string why;
};

// /dev/video*, by number. `root`: of another machine's files, for tests.
std::vector<CameraNode> list_cameras(const std::string& root = "");

}  // namespace engram
