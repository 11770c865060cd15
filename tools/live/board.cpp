#include "tools/live/board.h"

#include <algorithm>
#include <utility>

#include "tools/unknown_report.h"

namespace engram {

void Board::show(std::shared_ptr<const Sight> sight) {
  {
    const std::lock_guard lock(sight_mutex_);
    sight_.swap(sight);  // the old one goes after the lock: it may be large
  }
  shown_.notify_all();
}

std::shared_ptr<const Sight> Board::sight() const {
  const std::lock_guard lock(sight_mutex_);
  return sight_;
}

std::shared_ptr<const Sight> Board::wait(std::uint64_t after,
                                         std::chrono::milliseconds patience) const {
  std::unique_lock lock(sight_mutex_);
  const auto is_new = [&] { return sight_ != nullptr && sight_->frame.number > after; };
  shown_.wait_for(lock, patience, [&] { return closed_ || is_new(); });
  return is_new() ? sight_ : nullptr;
}

void Board::close() {
  {
    const std::lock_guard lock(sight_mutex_);
    closed_ = true;
  }
  shown_.notify_all();
}

void Board::look(bool begins) {
  {
    const std::lock_guard lock(look_mutex_);
    looking_ = begins;
    ++looks_;
  }
  if (!begins) looked_.notify_all();
}

void Board::wait_for_answer(std::chrono::milliseconds patience) const {
  std::unique_lock lock(look_mutex_);
  looked_.wait_for(lock, patience, [this, looks = looks_] { return !looking_ || looks_ != looks; });
}

void Board::publish(std::shared_ptr<const Readout> readout) {
  std::uint64_t revision = 0;
  const bool says = says_unknown(readout.get());
  {
    const std::lock_guard lock(judge_mutex_);
    judge_.readout.swap(readout);
    revision = ++judge_.revision;
  }
  change([&](LiveState& state) {
    state.revision = revision;
    state.says_unknown = says;
  });
}

Board::Judge Board::judge() const {
  const std::lock_guard lock(judge_mutex_);
  return judge_;
}

Board::View Board::view() const {
  const std::lock_guard lock(view_mutex_);
  return view_;
}

void Board::tell_view() {
  const View now = view();
  change([&](LiveState& state) {
    state.paused = now.paused;
    state.mirror = now.mirror;
    state.throttled = now.throttled;
    const Region& region = now.region;
    const int sides[4] = {region.left, region.top, region.width, region.height};
    std::copy_n(sides, 4, state.region);
  });
}

void Board::event(std::string kind, std::string text, bool failed) {
  change([&](LiveState& state) {
    state.events.push_back({++events_, std::move(kind), std::move(text), failed});
    if (state.events.size() > kEvents) state.events.erase(state.events.begin());
  });
}

void Board::measured(double backbone_ms, double head_ms, double looks_per_second) {
  const std::lock_guard lock(state_mutex_);
  state_.backbone_ms = backbone_ms;
  state_.head_ms = head_ms;
  state_.looks_per_second = looks_per_second;
}

LiveState Board::state() const {
  const std::lock_guard lock(state_mutex_);
  return state_;
}

std::uint64_t Board::changes() const {
  const std::lock_guard lock(state_mutex_);
  return changes_;
}

}  // namespace engram
