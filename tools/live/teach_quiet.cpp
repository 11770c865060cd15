// What the teaching thread does when nobody orders anything: ends the task, judges what was taught.
#include <utility>

#include "engine/memory_plan.h"
#include "tools/live/teach.h"
#include "tools/teaching_report.h"

namespace engram {
namespace {

constexpr std::chrono::seconds kBetweenTries{10};    // of ending a task that could not end
constexpr std::chrono::milliseconds kQuickEnd{300};  // of a task
constexpr std::int64_t kFewEnough = 500;             // samples, where no task has ended yet

template <class List, class Value>
void append(List& list, Value value) {
  list.push_back(value);
  if (list.size() > Board::kHistory) list.erase(list.begin());
}

}  // namespace

void Teach::end_task() {
  end_at_.reset();
  if (orders_->store().learner().task_samples() == 0) return;
  const Clock::time_point start = Clock::now();
  const Result<ReadoutReport> ended = orders_->end_task();
  last_end_ = Clock::now() - start;
  publish();
  if (!ended.ok()) {
    tell_fault(ended.status());
    end_at_ = Clock::now() + kBetweenTries;
  } else {
    tell_fault({});
    board_.event("task", ended_text(ended.value()));
    has_ended_ = true;
    judge_at_ = Clock::now();
  }
  tell_store();
}

bool Teach::ends_quickly() const {
  if (last_end_) return *last_end_ < kQuickEnd;
  return orders_->store().learner().samples() < kFewEnough;
}

void Teach::judge() {
  judge_at_.reset();
  const Result<Teaching> taught = orders_->judge();
  const Learner& learner = orders_->store().learner();
  const std::vector<ClassInfo> classes = learner.classes();
  const std::string digest = learner.digest();
  const std::int64_t resident = resident_bytes();
  judged_.clear();
  judged_sequence_ = orders_->store().sequence();
  double accuracy = -1;
  std::vector<std::string> hints;
  if (taught.ok()) {
    const TeachingReport& report = taught.value().report;
    for (std::size_t k = 0; k < classes.size(); ++k) judged_[classes[k].label] = report.classes[k];
    if (report.judged > 0) accuracy = double(report.right) / report.judged;
    hints = teaching_hints(classes, taught.value());
  }
  const bool at_end = std::exchange(has_ended_, false);
  tell_store();  // who sees the digest of what was judged sees each class judged
  board_.change([&](LiveState& state) {
    state.digest = digest;
    state.resident_bytes = resident;
    state.accuracy = accuracy;
    state.hints = std::move(hints);
    if (!at_end) return;
    append(state.accuracy_history, accuracy);
    append(state.memory_history, resident);
  });
}

void Teach::tell_store() {
  const Store& store = orders_->store();
  const Learner& learner = store.learner();
  std::vector<LiveClass> classes;
  for (const ClassInfo& info : learner.classes()) {
    LiveClass taught{info.label, info.samples};
    taught.too_few = info.samples < kFewSamples;
    if (const auto judged = judged_.find(info.label); judged != judged_.end()) {
      taught.judged = judged->second.judged;
      taught.right = judged->second.right;
    }
    classes.push_back(std::move(taught));
  }
  const auto readout = learner.readout();
  const std::int64_t planned =
      plan(learner.config(), int(classes.size()), learner.task_samples(), learner.samples())
          .total();
  board_.change([&](LiveState& state) {
    state.classes = std::move(classes);
    state.samples = learner.samples();
    state.open_samples = learner.task_samples();
    state.tasks = learner.tasks();
    state.sequence = store.sequence();
    if (state.sequence != judged_sequence_) state.digest.clear();
    state.lambda = readout == nullptr ? 0 : readout->lambda;
    state.form = learner.form() == Form::dense ? "dense" : "factored";
    state.planned_bytes = planned;
    state.fault = fault_.empty() ? store.note() : fault_;
    if (!state.classes.empty()) return;
    state.hints.clear();
    state.accuracy = -1;
  });
}

void Teach::tell_fault(const Status& status) {
  switch (status.code()) {
    case Code::ok:
      fault_.clear();
      mend_at_.reset();
      return;
    case Code::invalid_argument:
    case Code::bad_data:
    case Code::not_found:
    case Code::not_supported:
    case Code::busy:
      return;  // the order's, not the storage's
    case Code::out_of_memory:
    case Code::device_failure:
    case Code::io_failure:
    case Code::internal:
      break;
  }
  if (status.code() == Code::io_failure && !mend_at_) mend_at_ = Clock::now() + settings_.mend;
  if (fault_ == status.what()) return;
  fault_ = status.what();
  board_.event("fault", fault_, true);
}

}  // namespace engram
