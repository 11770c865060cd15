#include "tools/live/teach.h"

#include <algorithm>
#include <future>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "platform/sentence.h"
#include "platform/steady_time.h"
#include "platform/threads.h"

namespace engram {
namespace {

// Behind the picture, but a tap must not starve where other programs take every core: at 19 it does.
constexpr int kLowPriority = 15;
constexpr std::chrono::milliseconds kMostDelay{50};  // of an order, for the frame that is looked at

}  // namespace

Teach::Teach(std::variant<Store, UnreadState, ReadOnlyState> state, Board& board, Settings settings)
    : board_(board), settings_(std::move(settings)) {
  if (auto* store = std::get_if<Store>(&state)) {
    take(std::move(*store));
  } else if (auto* unread = std::get_if<UnreadState>(&state)) {
    unread_ = std::move(*unread);
    answer_from(unread_->readout);
    board_.change([](LiveState& told) { told.opening = true; });
  } else {
    read_only_ = std::get<ReadOnlyState>(std::move(state));
    answer_only(*read_only_);
  }
}

void Teach::start() {
  running_ = true;
  thread_ = std::thread([this] { run(); });
}

void Teach::run() {
  if (wait_until_writable()) {
    if (const Status opened = read_state(); opened.ok()) {
      teach();
    } else {
      refuse_all(opened);
    }
  }
  const std::lock_guard lock(mutex_);
  has_run_ = true;
  wake_.notify_all();
}

void Teach::ask_to_stop() {
  {
    const std::lock_guard lock(mutex_);
    if (!stop_by_) stop_by_ = Clock::now() + Live::kStopPatience;
  }
  wake_.notify_all();
}

void Teach::stop() {
  ask_to_stop();
  if (thread_.joinable()) thread_.join();
}

bool Teach::has_ended(Clock::time_point by) {
  std::unique_lock lock(mutex_);
  return wake_.wait_until(lock, by, [this] { return has_run_ || !running_; });
}

Status Teach::submit(Order order, Done done) {
  return add({std::move(order), "", {}, std::move(done), Clock::now()});
}

Status Teach::keep(const ChosenView& view, Done done) {
  return add({{}, "", view, std::move(done), Clock::now()});
}

Status Teach::export_to(const std::string& file) {
  std::promise<Status> exported;
  ENGRAM_TRY(add({{},
                  file,
                  {},
                  [&](const OrderResult& result) { exported.set_value(result.status); },
                  Clock::now()}));
  return exported.get_future().get();
}

Status Teach::add(Waiting waiting) {
  {
    const std::lock_guard lock(mutex_);
    if (!running_ || stop_by_) {
      return Status(Code::busy, "the camera app stops; nothing was changed");
    }
    ENGRAM_TRY(opened_);
    ENGRAM_TRY(refusal_);
    if (waiting_.size() >= kMostWaiting) {
      return Status(
          Code::busy,
          fmt::format("{} orders wait already; nothing was changed, try again in a moment",
                      waiting_.size()));
    }
    waiting_.push_back(std::move(waiting));
    board_.change([](LiveState& state) { state.learning = true; });
  }
  wake_.notify_all();
  return {};
}

Teach::Clock::time_point Teach::next_due() const {
  Clock::time_point due = watch_at_;
  if (end_at_) due = std::min(due, *end_at_);
  if (judge_at_) due = std::min(due, *judge_at_);
  if (mend_at_) due = std::min(due, *mend_at_);
  return due;
}

void Teach::teach() {
  (void)::setpriority(PRIO_PROCESS, id_t(::gettid()), kLowPriority);
  const OneThread alone;
  if (const Learner& learner = orders_->store().learner(); learner.samples() > 0) {
    OrderResult opened;
    make_known(opened);  // also what no task has ended with yet
    judge_at_ = Clock::now() + settings_.quiet;
    if (learner.task_samples() > 0) end_at_ = judge_at_;
  }
  for (;;) {
    ++rounds_;
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, next_due(), [this] { return !waiting_.empty() || stop_by_; });
    if (stop_by_ && (waiting_.empty() || Clock::now() > *stop_by_)) break;
    if (!waiting_.empty()) {
      const Waiting waiting = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      board_.wait_for_answer(kMostDelay);
      carry_out(waiting);
      if (watch_at_ <= Clock::now()) watch_machine();  // also where orders never end
      lock.lock();
      if (waiting_.empty()) board_.change([](LiveState& state) { state.learning = false; });
      continue;
    }
    lock.unlock();
    board_.wait_for_answer(kMostDelay);
    const Clock::time_point now = Clock::now();
    if (end_at_ && *end_at_ <= now) {
      end_task();
    } else if (judge_at_ && *judge_at_ <= now) {
      judge();
    } else if (mend_at_ && *mend_at_ <= now) {
      try_storage();
    }
    if (watch_at_ <= Clock::now()) watch_machine();
  }
  refuse_waiting(
      Status(Code::busy, "the camera app stopped before it was its turn; nothing was changed"));
  if (ends_quickly()) end_task();  // if not, the task goes on with the next start
}

OrderResult Teach::outcome_of(const Waiting& waiting) {
  OrderResult result;
  if (waiting.view) {
    result.status = keep_view(settings_.directory, *waiting.view, *settings_.files);
    return result;
  }
  if (!waiting.export_file.empty()) {
    result.status = orders_->export_to(waiting.export_file);
    result.said = "exported to " + waiting.export_file;
    return result;
  }
  result = orders_->carry_out(waiting.order, waiting.submitted);
  const bool changed = result.status.ok() && !result.skipped;
  if (changed) tell_fault({});
  make_known(result);
  const bool ended = changed && waiting.order.kind == Order::Kind::end_task;
  if (ended) has_ended_ = true;
  if (changed || end_at_) end_at_ = Clock::now() + settings_.quiet;
  if (changed) judge_at_ = ended ? Clock::now() : *end_at_;
  return result;
}

void Teach::carry_out(const Waiting& waiting) {
  OrderResult result = outcome_of(waiting);
  result.known_ms = milliseconds_since(waiting.submitted);
  if (!result.status.ok()) {
    result.said = result.status.what();
    tell_fault(result.status);
  }
  tell_store();
  if (!result.skipped && !result.said.empty()) {
    const char* kind = waiting.view                   ? "view"
                       : !waiting.export_file.empty() ? "export"
                                                      : name(waiting.order.kind);
    board_.event(kind, result.said, !result.status.ok());
  }
  if (waiting.done) waiting.done(result);
}

// The next frame is judged by everything learned.
void Teach::make_known(OrderResult& result) {
  const Status known = orders_->make_known();
  publish();
  if (known.ok()) return;
  tell_fault(known);
  result.said = fmt::format("{} It is kept, but does not answer yet: {}", sentence(result.said),
                            known.what());
}

void Teach::publish() {
  const std::shared_ptr<const Readout> readout = orders_->store().learner().readout();
  if (readout != board_.judge().readout) board_.publish(readout);
}

void Teach::refuse_waiting(const Status& why) {
  std::deque<Waiting> refused;
  {
    const std::lock_guard lock(mutex_);
    refused.swap(waiting_);
  }
  OrderResult result;
  result.status = why;
  result.said = result.status.what();
  for (const Waiting& waiting : refused) {
    if (waiting.done) waiting.done(result);
  }
}

}  // namespace engram
