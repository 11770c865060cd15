// The teaching thread: it alone has the store. It reads it first, where that was left to it. Then
// orders one after another, each durable before it is acknowledged; when nobody orders anything, the
// task ends and what was taught is judged.
//
// It teaches at a low priority and on one core, so that the picture does not stall.
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
#include <variant>

#include "tools/live/board.h"
#include "tools/live/chosen_view.h"
#include "tools/live/orders.h"
#include "tools/machine_state.h"

namespace engram {

class Teach {
 public:
  using Done = std::function<void(const OrderResult&)>;
  using Clock = std::chrono::steady_clock;
  struct Settings {
    std::chrono::milliseconds quiet{3000};
    double hottest = 85;
    std::string machine_root;
    std::string device;  // for the audit trail
    std::string directory;
    std::chrono::milliseconds mend{10'000};
    FileSystem* files = nullptr;
  };
  static constexpr std::size_t kMostWaiting = 32;

  Teach(std::variant<Store, UnreadState, ReadOnlyState> state, Board& board, Settings settings);
  ~Teach() { stop(); }

  void start();  // may throw std::system_error
  Status submit(Order order, Done done);
  Status export_to(const std::string& file);  // between two orders
  Status keep(const ChosenView& view, Done done);
  // ok: the state is read, or takes longer than that. Else why it cannot be.
  Status wait_until_open(std::chrono::milliseconds patience);
  Status opened() const;
  void ask_to_stop();
  void stop();                                      // and waits for it
  bool has_ended(Clock::time_point by);             // after ask_to_stop
  std::uint64_t rounds() const { return rounds_; }  // with an order or without

 private:
  struct Waiting {
    Order order;
    std::string export_file;         // not empty: this, and no order
    std::optional<ChosenView> view;  // the same
    Done done;
    Clock::time_point submitted;
  };
  Status add(Waiting waiting);
  void run();
  // Of a state that is still to be read (teach_open.cpp).
  void answer_from(const std::shared_ptr<const Readout>& readout);
  Status read_state();
  void take(Store store);
  void refuse_all(const Status& why);  // until it is asked to stop
  // Of storage that cannot be written (teach_storage.cpp).
  void answer_only(const ReadOnlyState& state);
  bool wait_until_writable();  // false: it was asked to stop
  void try_storage();
  void teach();
  void carry_out(const Waiting& waiting);
  void end_task();
  bool ends_quickly() const;  // within what somebody who stops the app waits for
  void judge();
  void watch_machine();  // teach_watch.cpp
  std::string what_slows(const MachineState& now);
  static std::int64_t resident_bytes();  // of this process
  OrderResult outcome_of(const Waiting& waiting);
  void make_known(OrderResult& result);
  void publish();  // the readout, if it is another one
  void refuse_waiting(const Status& why);
  // What follows from the store: classes, counts, sequence number.
  void tell_store();
  void tell_fault(const Status& status);  // ok: mended
  Clock::time_point next_due() const;

  Board& board_;
  Settings settings_;

  // Of this thread alone.
  std::optional<UnreadState> unread_;
  std::optional<ReadOnlyState> read_only_;
  std::optional<Orders> orders_;  // as soon as the state is read
  std::optional<Clock::time_point> end_at_, judge_at_, mend_at_;
  Clock::time_point watch_at_{}, slowed_until_{};
  std::optional<MachineState> machine_;  // when it was watched last
  std::string slowed_by_;
  bool has_ended_ = false;                       // a task, and it was not judged since
  std::optional<Clock::duration> last_end_;      // how long it took
  std::map<std::string, ClassTeaching> judged_;  // by label, when that was done last
  std::int64_t judged_sequence_ = -1;            // of the store, then
  std::string fault_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool is_open_ = false, has_run_ = false;
  Status opened_;   // why the state cannot be read
  Status refusal_;  // of every order: why the state cannot be written
  std::deque<Waiting> waiting_;
  std::optional<Clock::time_point> stop_by_;  // orders that wait longer are refused
  bool running_ = false;
  std::atomic<std::uint64_t> rounds_ = 0;
  std::thread thread_;
};

}  // namespace engram
