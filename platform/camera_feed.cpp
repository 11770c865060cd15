#include "platform/camera_feed.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace engram {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = FeedState::Kind;
using Shared = std::shared_ptr<const CameraPicture>;

// Frames per second over the last second or so.
class Rate {
 public:
  void count(Clock::time_point now) {
    if (frames_ == 0) since_ = now;
    ++frames_;
    const double seconds = std::chrono::duration<double>(now - since_).count();
    if (seconds <= 0) return;
    if (seconds >= 1 || !whole_) value_ = double(frames_ - 1) / seconds;
    if (seconds < 1) return;
    whole_ = true;
    since_ = now;
    frames_ = 1;
  }
  void reset() { *this = Rate(); }
  double value() const { return value_; }

 private:
  Clock::time_point since_{};
  std::uint64_t frames_ = 0;
  bool whole_ = false;  // a whole second has been seen; before, what there is of it must do
  double value_ = 0;
};

// What others supply may throw for want of memory. That passes, as an unplugged cable does. Never a
// copy of `call`: what it remembers from call to call would be lost with it.
template <class T, class Call>
Result<T> without_exceptions(Call& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory, "not enough memory for a picture of the camera");
  } catch (...) {
    return Status(Code::internal, "the camera's code failed in a way that it does not explain");
  }
}

}  // namespace

struct CameraFeed::Impl {
  Open open;
  const std::chrono::milliseconds retry;
  mutable std::mutex guard;  // of all below, but `thread`
  mutable std::condition_variable changed;
  Frame newest;
  FeedState state;
  Rate rate;
  bool stopping = false;
  std::mutex joining;
  std::thread thread;

  Impl(Open how, std::chrono::milliseconds interval) : open(std::move(how)), retry(interval) {}

  void run() {
    while (!is_stopping()) {
      Status why = show_until_it_fails();
      const Clock::time_point again = last_opened + retry;
      std::unique_lock<std::mutex> hold(guard);
      if (why.ok()) return;  // told to stop
      rate.reset();
      if (why.code() == Code::not_found && opened) {
        state.kind = Kind::ended;
        return;
      }
      state.kind = Kind::lost;
      state.why = why.what();
      changed.wait_until(hold, again, [this] { return stopping; });
    }
  }

  void show(Shared picture) {
    const std::lock_guard<std::mutex> hold(guard);
    newest = {newest.number + 1, Clock::now(), std::move(picture)};
    rate.count(newest.taken);
    if (state.kind == Kind::lost && state.frames > 0) ++state.reopened;
    state.kind = Kind::live;
    state.why.clear();
    ++state.frames;
    changed.notify_all();
  }

  bool is_stopping() const {
    const std::lock_guard<std::mutex> hold(guard);
    return stopping;
  }

 private:
  // Why it failed; ok when it was told to stop. The camera is closed by then.
  Status show_until_it_fails() {
    opened = false;
    auto camera = without_exceptions<std::unique_ptr<Camera>>(open);
    last_opened = Clock::now();
    if (!camera.ok()) return camera.status();
    opened = true;
    const auto take = [&]() -> Result<Shared> {
      ENGRAM_ASSIGN(CameraPicture picture, camera.value()->next());
      return std::make_shared<const CameraPicture>(std::move(picture));
    };
    for (int garbage = 0; !is_stopping();) {
      auto picture = without_exceptions<Shared>(take);
      if (picture.ok()) {
        garbage = 0;
        show(std::move(picture).value());
      } else if (picture.status().code() == Code::bad_data && ++garbage < kGarbage) {
        continue;
      } else if (picture.status().code() == Code::busy) {
        pause();
      } else {
        return picture.status();
      }
    }
    return {};
  }

  // A camera that says "not yet" without waiting must not keep a core busy.
  void pause() {
    std::unique_lock<std::mutex> hold(guard);
    changed.wait_for(hold, std::chrono::milliseconds(10), [this] { return stopping; });
  }

  // Of the thread alone.
  bool opened = false;
  Clock::time_point last_opened{};
};

CameraFeed::CameraFeed(Open open, std::chrono::milliseconds retry)
    : impl_(std::make_unique<Impl>(std::move(open), retry)) {
  try {
    impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
  } catch (const std::system_error&) {
    impl_->state.kind = Kind::lost;
    impl_->state.why =
        "The system gives no thread to read the camera with; start the program again.";
  }
}

CameraFeed::~CameraFeed() {
  stop();
}

Frame CameraFeed::wait(std::uint64_t after, std::chrono::milliseconds patience) const {
  std::unique_lock<std::mutex> hold(impl_->guard);
  const auto ready = [&] { return impl_->newest.number > after; };
  impl_->changed.wait_for(hold, patience, [&] { return ready() || impl_->stopping; });
  return ready() ? impl_->newest : Frame{};
}

FeedState CameraFeed::state() const {
  const std::lock_guard<std::mutex> hold(impl_->guard);
  FeedState state = impl_->state;
  state.frames_per_second = impl_->rate.value();
  return state;
}

void CameraFeed::stop() {
  {
    const std::lock_guard<std::mutex> hold(impl_->guard);
    impl_->stopping = true;
    impl_->changed.notify_all();
  }
  const std::lock_guard<std::mutex> hold(impl_->joining);
  if (impl_->thread.joinable()) impl_->thread.join();
}

}  // namespace engram
