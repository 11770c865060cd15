// What the looking thread tells beside the picture: how the camera, the engine and the GPU are.
#include <utility>

#include <fmt/format.h>

#include "kernels/backend.h"
#include "tools/engine_words.h"
#include "tools/live/look.h"

namespace engram {

void Look::tell_camera(const FeedState& now) {
  if (now.kind == FeedState::Kind::opening || now.kind == camera_) return;
  const FeedState::Kind before = std::exchange(camera_, now.kind);
  if (now.kind == FeedState::Kind::live) {
    const bool is_first = before == FeedState::Kind::opening;
    board_.event("camera", is_first ? "the camera is there" : "the camera is back");
    return;
  }
  board_.measured(0, 0, 0);
  if (now.kind == FeedState::Kind::ended) {
    board_.event("camera", "the source has ended");
  } else {
    board_.event("camera", fmt::format("the camera is lost: {}", now.why), true);
  }
}

void Look::tell_engine() {
  using Kind = EngineState::Kind;
  const EngineState now = extractor_.engine();
  std::string words = engine_words(now);
  if (words == engine_words_) return;
  engine_words_ = std::move(words);
  board_.change([&](LiveState& state) { state.engine = now; });
  if (std::exchange(engine_, now.kind) == now.kind) return;
  if (now.kind == Kind::building) {
    board_.event("engine", fmt::format("building the engine for {}, which may take minutes; the "
                                       "CPU answers meanwhile",
                                       now.device));
  } else if (now.kind == Kind::answers) {
    board_.event("engine", fmt::format("the GPU answers ({})", now.device));
  } else if (now.kind == Kind::given_up) {
    board_.event("engine", now.why, true);
  }
}

// It cannot be computed on, or was lost, here or where it teaches: the CPU goes on, which may be slow.
void Look::tell_gpu() {
  std::string why = gpu_trouble_text(backend_in_use());
  if (why == cpu_because_) return;
  cpu_because_ = std::move(why);
  board_.change([&](LiveState& state) { state.cpu_because = cpu_because_; });
  if (!cpu_because_.empty()) board_.event("gpu", cpu_because_, true);
}

void Look::tell_failure(const Status& status) {
  if (failure_ == status.what()) return;
  failure_ = status.what();
  board_.event("fault", failure_, true);
}

}  // namespace engram
