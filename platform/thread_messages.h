// What a library says of its errors, kept apart by the thread that it says it on: many threads may
// use it at once, and each wants to know why its own call failed.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace engram {

class ThreadMessages {
 public:
  using Mark = std::uint64_t;

  // Before a call: what the thread heard before does not explain it.
  Mark start() {
    const std::lock_guard<std::mutex> hold(guard_);
    heard_.erase(std::this_thread::get_id());
    return count_;
  }
  void add(const char* text) {
    const std::lock_guard<std::mutex> hold(guard_);
    heard_[std::this_thread::get_id()] = {++count_, text};
  }
  // The last since start(): on the calling thread, else on any: a library has threads of its own.
  std::string last(Mark since) const {
    const std::lock_guard<std::mutex> hold(guard_);
    const auto mine = heard_.find(std::this_thread::get_id());
    if (mine != heard_.end() && mine->second.at > since) return mine->second.text;
    const Message* newest = nullptr;
    for (const auto& [thread, message] : heard_) {
      if (message.at > since && (newest == nullptr || message.at > newest->at)) newest = &message;
    }
    return newest == nullptr ? "no reason given" : newest->text;
  }

 private:
  struct Message {
    Mark at = 0;
    std::string text;
  };
  mutable std::mutex guard_;
  Mark count_ = 0;
  std::map<std::thread::id, Message> heard_;
};

}  // namespace engram
