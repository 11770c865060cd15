// /health and /metrics: for those who watch many devices.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "tools/live/live.h"
#include "tools/web/http_server.h"

namespace engram {

inline constexpr std::size_t kOrderKinds = std::size_t(Order::Kind::merge) + 1;

// Orders given over HTTP since start, by kind. Counted by the teaching thread.
struct OrderCounters {
  std::array<std::atomic<std::uint64_t>, kOrderKinds> done{}, failed{}, skipped{};
};

// 200 while answers come or could come by themselves; 503 when what is learned cannot be kept.
HttpResponse health_response(const LiveState& state);
// Prometheus' text format, version 0.0.4.
HttpResponse metrics_response(const LiveState& state, const OrderCounters& orders,
                              const HttpCounters& http);

}  // namespace engram
