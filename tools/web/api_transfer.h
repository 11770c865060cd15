// The state as a file: out to a browser, in from one.
//
// Files are written by a thread of their own, one at a time, in a folder that is removed afterwards; a
// file on its way out is read piece by piece, so that its size costs no memory.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "tools/live/live.h"
#include "tools/web/http_server.h"

namespace engram {

class Transfer {
 public:
  explicit Transfer(Live& live);  // which must live longer
  ~Transfer();                    // finishes the file under way; those that wait are not begun
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  void send(std::shared_ptr<HttpReply> reply);
  // `done` with what became of the order to merge; on any thread.
  void receive(std::string body, std::function<void(const OrderResult&)> done);

 private:
  Status begin(std::function<void()> errand);  // busy: some wait already
  void work();

  Live& live_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> errands_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace engram
