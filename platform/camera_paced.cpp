#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "platform/camera_sources.h"

namespace engram {
namespace {

using Clock = std::chrono::steady_clock;

class PacedCamera : public Camera {
 public:
  PacedCamera(std::unique_ptr<Camera> camera, int fps)
      : camera_(std::move(camera)),
        period_(std::chrono::nanoseconds(std::chrono::seconds(1)) / fps) {}

  Result<CameraPicture> next() override {
    std::this_thread::sleep_until(due_);
    due_ = std::max(due_, Clock::now() - period_) + period_;  // late: go on, do not catch up
    return camera_->next();
  }

 private:
  std::unique_ptr<Camera> camera_;
  Clock::duration period_;
  Clock::time_point due_ = Clock::now();
};

}  // namespace

std::unique_ptr<Camera> paced(std::unique_ptr<Camera> camera, int fps) {
  if (fps == 0) return camera;
  return std::make_unique<PacedCamera>(std::move(camera), fps);
}

}  // namespace engram
