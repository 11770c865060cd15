// A camera that is always there: a thread reads it, opens it again when it fails, and keeps only the
// newest picture.
//
//     camera > thread > newest frame > whoever asks        latest frame wins: no queue grows
//
// A source that fails, stalls or gives kGarbage broken pictures in a row is closed and opened again,
// at once and then every kRetry, so that it is back within 2 s of its return. state() says in plain
// words what is going on.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "platform/camera.h"

namespace engram {

struct Frame {
  std::uint64_t number = 0;  // 1, 2, 3, ...; 0: none yet
  std::chrono::steady_clock::time_point taken{};
  std::shared_ptr<const CameraPicture> picture;
};

struct FeedState {
  enum class Kind : std::uint8_t {
    opening,  // neither a frame nor a failure yet
    live,     // frames come
    lost,     // it failed; `why` says how, and it is tried again by itself until a frame comes
    ended,    // a file or folder has been shown in full
  };
  Kind kind = Kind::opening;
  std::string why;               // lost: the sentence of the failure
  std::uint64_t frames = 0;      // since start
  std::uint64_t reopened = 0;    // times that frames came again after it was lost
  double frames_per_second = 0;  // of the last seconds
};

class CameraFeed {
 public:
  // Called by the thread alone, always the same object, and only when the camera before is closed.
  using Open = std::function<Result<std::unique_ptr<Camera>>()>;
  static constexpr std::chrono::milliseconds kRetry{500};
  static constexpr int kGarbage = 10;

  explicit CameraFeed(Open open, std::chrono::milliseconds retry = kRetry);
  ~CameraFeed();  // stops
  CameraFeed(const CameraFeed&) = delete;
  CameraFeed& operator=(const CameraFeed&) = delete;

  // The newest frame after number `after`; waits at most `patience`. Number 0: there is none. Also
  // waits when the source is lost or has ended, so that a loop around it is never a busy one.
  Frame wait(std::uint64_t after, std::chrono::milliseconds patience) const;
  FeedState state() const;
  // Ends the thread; a call that waits comes back at once. A camera's next() waits a second at most.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace engram
