// Storage that cannot be written: the picture goes on, what was learned answers, and it is tried again
// from time to time, so that nobody has to say that it is well again.
#include <algorithm>
#include <array>
#include <utility>

#include "platform/file.h"
#include "tools/live/teach.h"

namespace engram {
namespace {

// As much as a tap needs.
Status try_writing(const std::string& directory, FileSystem& files) {
  const std::string file = directory + "/trial";
  const std::array<std::byte, 4096> bytes{};
  const Status written = replace_file(file, bytes, files);
  files.unlink(file.c_str());
  return written;
}

}  // namespace

void Teach::answer_only(const ReadOnlyState& state) {
  answer_from(state.readout);
  refusal_ = state.why;
  fault_ = state.why.what();
  board_.event("fault", fault_, true);
  board_.change([&](LiveState& told) { told.fault = fault_; });
}

bool Teach::wait_until_writable() {
  if (!read_only_) return true;
  for (Clock::time_point again = Clock::now() + settings_.mend;;) {
    ++rounds_;
    if (watch_at_ <= Clock::now()) watch_machine();
    {
      std::unique_lock lock(mutex_);
      const auto stops = [this] { return stop_by_.has_value(); };
      if (wake_.wait_until(lock, std::min(watch_at_, again), stops)) return false;
    }
    if (Clock::now() < again) continue;
    again = Clock::now() + settings_.mend;
    Result<Store::Reserved> reserved = Store::reserve(read_only_->directory);
    if (!reserved.ok()) continue;
    unread_.emplace(
        UnreadState{std::move(reserved).value(), read_only_->config, read_only_->readout});
    break;
  }
  fault_.clear();
  board_.event("state", "the storage can be written again");
  board_.change([](LiveState& state) { state.opening = true; });  // tells the fault no more, soon
  const std::lock_guard lock(mutex_);
  refusal_ = {};
  return true;
}

void Teach::try_storage() {
  mend_at_ = Clock::now() + settings_.mend;
  if (end_at_ && *end_at_ <= *mend_at_) return;  // that tries it
  if (!try_writing(settings_.directory, *settings_.files).ok()) return;
  tell_fault({});
  board_.event("state", "the storage can be written again");
  tell_store();
}

}  // namespace engram
