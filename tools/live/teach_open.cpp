// Reading the state, which may take seconds: what it was when the last task ended answers meanwhile, and
// orders wait.
#include <optional>
#include <utility>

#include "kernels/backend.h"
#include "platform/second_try.h"
#include "tools/live/teach.h"

namespace engram {

void Teach::answer_from(const std::shared_ptr<const Readout>& readout) {
  board_.publish(readout);
  board_.change([&](LiveState& state) {
    state.samples = readout->samples;
    state.lambda = readout->lambda;
    for (const std::string& label : readout->classes) state.classes.push_back({label});
  });
}

void Teach::take(Store store) {
  orders_.emplace(std::move(store), settings_.device);
  tell_store();
  board_.publish(orders_->store().learner().readout());
  if (const std::string& note = orders_->store().recovery_note(); !note.empty()) {
    board_.event("state", note);
  }
  board_.change([](LiveState& state) { state.opening = false; });
  const std::lock_guard lock(mutex_);
  is_open_ = true;
  wake_.notify_all();
}

Status Teach::read_state() {
  if (!unread_) return {};
  const std::string directory = unread_->reserved.directory;
  std::optional<Store::Reserved> reserved = std::move(unread_->reserved);
  const auto read = [&]() -> Status {
    if (!reserved) {  // the second time
      ENGRAM_ASSIGN(reserved, Store::reserve(directory));
    }
    ENGRAM_ASSIGN(Store store, Store::open(*std::exchange(reserved, std::nullopt)));
    take(std::move(store));
    return {};
  };
  return second_try(read, "not enough memory to read what was learned", LostSince());
}

Status Teach::wait_until_open(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, patience, [this] { return is_open_ || !opened_.ok(); });
  return opened_;
}

Status Teach::opened() const {
  const std::lock_guard lock(mutex_);
  return opened_;
}

void Teach::refuse_all(const Status& why) {
  {
    const std::lock_guard lock(mutex_);
    opened_ = why;
  }
  wake_.notify_all();
  refuse_waiting(why);
  fault_ = why.what();
  board_.event("fault", fault_, true);
  board_.change([&](LiveState& state) {
    state.opening = state.learning = false;
    state.fault = fault_;
  });
  for (;;) {
    ++rounds_;
    watch_machine();
    std::unique_lock lock(mutex_);
    if (wake_.wait_until(lock, watch_at_, [this] { return stop_by_.has_value(); })) return;
  }
}

}  // namespace engram
