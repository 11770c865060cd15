// Tells the service manager about the camera app while it runs: ready once it answers, a line of
// status, and the watchdog's food only as long as its threads make progress.
//
// Looking is a matter of milliseconds, so the look thread has to move within the watchdog's period. An
// order may be long (the end of a task of thousands of samples), so the teach thread has kOrderPeriods
// of them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "platform/service_notify.h"

namespace engram {

struct ServicePulse {
  std::uint64_t look = 0, teach = 0;  // grow while the threads make progress or wait for work
  bool answers = false;     // the first answer can be given, or it is the camera that is waited for
  std::string status = {};  // "live 15.0 fps, 12 classes, 96 samples"
};

// Whether to feed the watchdog; apart from the thread, so that it can be tested.
class ProgressJudge {
 public:
  static constexpr int kOrderPeriods = 20;
  using Clock = std::chrono::steady_clock;
  ProgressJudge(std::chrono::microseconds period, Clock::time_point now)
      : period_(period), looked_(now), taught_(now) {}
  bool makes_progress(const ServicePulse& pulse, Clock::time_point now);

 private:
  std::chrono::microseconds period_;
  ServicePulse last_;
  Clock::time_point looked_, taught_;  // when each was last seen to move
};

class ServiceWatch {
 public:
  // Asks `pulse` a few times a second from a thread of its own, which must not block. `on_fault` is
  // told, once, when the manager cannot be reached. Without a listener there is no thread.
  ServiceWatch(ServiceNotify notify, std::function<ServicePulse()> pulse,
               std::function<void(const Status&)> on_fault);
  ~ServiceWatch();  // says STOPPING
  ServiceWatch(const ServiceWatch&) = delete;
  ServiceWatch& operator=(const ServiceWatch&) = delete;

 private:
  void run();
  void check(const Status& sent);

  ServiceNotify notify_;
  std::function<ServicePulse()> pulse_;
  std::function<void(const Status&)> on_fault_;
  bool faulty_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace engram
