#include "tools/service/service_watch.h"

#include <algorithm>
#include <utility>

namespace engram {

namespace {

using namespace std::chrono_literals;
constexpr auto kUntilReady = 20ms;  // between two questions; who waits for READY waits for us
constexpr auto kUsual = 1000ms;

}  // namespace

bool ProgressJudge::makes_progress(const ServicePulse& pulse, Clock::time_point now) {
  if (pulse.look != last_.look) looked_ = now;
  if (pulse.teach != last_.teach) taught_ = now;
  last_ = pulse;
  return now - looked_ < period_ && now - taught_ < kOrderPeriods * period_;
}

ServiceWatch::ServiceWatch(ServiceNotify notify, std::function<ServicePulse()> pulse,
                           std::function<void(const Status&)> on_fault)
    : notify_(std::move(notify)), pulse_(std::move(pulse)), on_fault_(std::move(on_fault)) {
  if (notify_.has_listener()) thread_ = std::thread([this] { run(); });
}

ServiceWatch::~ServiceWatch() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ended_.notify_all();
  thread_.join();
  check(notify_.stopping("finishing what is under way"));
}

void ServiceWatch::check(const Status& sent) {
  if (!sent.ok() && !std::exchange(faulty_, true)) on_fault_(sent);
}

void ServiceWatch::run() {
  ProgressJudge judge(notify_.watchdog(), ProgressJudge::Clock::now());
  const std::chrono::microseconds watchdog = notify_.watchdog();
  std::chrono::microseconds usual = kUsual;
  if (watchdog.count() > 0) usual = std::min(usual, watchdog / 4);  // one may come late
  bool ready = false;
  std::string said;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    const ServicePulse pulse = pulse_();
    if (!ready && pulse.answers) {
      check(notify_.ready(pulse.status));
      ready = true;
      said = pulse.status;
    } else if (ready && pulse.status != said) {
      check(notify_.status(pulse.status));
      said = pulse.status;
    }
    if (watchdog.count() > 0 && judge.makes_progress(pulse, ProgressJudge::Clock::now())) {
      check(notify_.feed());
    }
    const std::chrono::microseconds wait =
        ready ? usual : std::min<std::chrono::microseconds>(kUntilReady, usual);
    ended_.wait_for(lock, wait, [this] { return ending_; });
  }
}

}  // namespace engram
