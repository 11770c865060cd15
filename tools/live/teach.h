// The teaching thread: it alone has the store. Orders one after another, each durable before it is
// acknowledged; when nobody orders anything, the task ends and what was taught is judged.
//
// It runs at the lowest priority and on one core, so that the picture does not stall.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "tools/live/board.h"
#include "tools/live/orders.h"

namespace engram {

class Teach {
 public:
  using Done = std::function<void(const OrderResult&)>;
  using Clock = std::chrono::steady_clock;
  struct Settings {
    std::chrono::milliseconds quiet{3000};
    double hottest = 85;
    std::string machine_root;
  };
  static constexpr std::size_t kMostWaiting = 32;

  Teach(Orders orders, Board& board, Settings settings);
  ~Teach() { stop(); }

  void start();  // may throw std::system_error
  Status submit(Order order, Done done);
  Status export_to(const std::string& file);  // between two orders
  void ask_to_stop();
  void stop();                                      // and waits for it
  std::uint64_t rounds() const { return rounds_; }  // with an order or without

 private:
  struct Waiting {
    Order order;
    std::string export_file;  // not empty: this, and no order
    Done done;
    Clock::time_point submitted;
  };
  Status add(Waiting waiting);
  void run();
  void carry_out(const Waiting& waiting);
  void end_task();
  bool ends_quickly() const;  // within what somebody who stops the app waits for
  void judge();
  void watch_machine();
  void make_known(OrderResult& result);
  void publish();  // the readout, if it is another one
  void refuse_waiting();
  // What follows from the store: classes, counts, sequence number.
  void tell_store();
  void tell_fault(const Status& status);  // ok: mended
  Clock::time_point next_due() const;

  Orders orders_;
  Board& board_;
  Settings settings_;

  // Of this thread alone.
  std::optional<Clock::time_point> end_at_, judge_at_;
  Clock::time_point watch_at_{};
  bool has_ended_ = false;                       // a task, and it was not judged since
  std::optional<Clock::duration> last_end_;      // how long it took
  std::map<std::string, ClassTeaching> judged_;  // by label, when that was done last
  std::string fault_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Waiting> waiting_;
  std::optional<Clock::time_point> stop_by_;  // orders that wait longer are refused
  bool running_ = false;
  std::atomic<std::uint64_t> rounds_ = 0;
  std::thread thread_;
};

}  // namespace engram
