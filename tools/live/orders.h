// Orders of the camera app, carried out on a store one after another by the thread that owns it.
#pragma once

#include <string>

#include "engine/store.h"
#include "tools/live/burst.h"
#include "tools/live/live.h"

namespace engram {

const char* name(Order::Kind kind);
std::string ended_text(const ReadoutReport& report);

class Orders {
 public:
  // device: a name for the audit trail.
  Orders(Store store, std::string device);

  // What became of it; the state is durable. `known_ms` is left to the caller.
  OrderResult carry_out(const Order& order, std::chrono::steady_clock::time_point submitted);
  // The readout of everything learned, whether it was there or is made now. Where that fails the one
  // before it answers on, and the learned samples are kept.
  Status make_known();
  // The task ends, and lambda is chosen.
  Result<ReadoutReport> end_task();
  // How well each class is known.
  Result<Teaching> judge();
  Status export_to(const std::string& file);

  Store& store() { return store_; }
  const Store& store() const { return store_; }

 private:
  // What `work` returns, a Result. Where it fails because the GPU was lost, the CPU does it again, on
  // what the disk has; memory that ran out is one of its failures, and a lost GPU gives none either.
  template <class Work>
  auto repeated_if_lost(const Work& work) -> decltype(work());
  Result<std::string> learn(const Order& order, bool& skipped);
  Result<std::string> edit(const Order& order);

  Store store_;
  Burst burst_;
  std::string device_;
};

}  // namespace engram
