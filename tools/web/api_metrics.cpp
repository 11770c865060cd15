#include "tools/web/api_metrics.h"

#include <fmt/format.h>

#include "platform/version.h"
#include "tools/live/orders.h"
#include "tools/web/api_json.h"

namespace engram {
namespace {

class Metrics {
 public:
  void head(const char* name, const char* type, const char* help) {
    text_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  }
  template <class Number>
  void value(const std::string& name, Number number) {
    text_ += fmt::format("{} {}\n", name, number);
  }
  template <class Number>
  void gauge(const char* name, const char* help, Number number) {
    head(name, "gauge", help);
    value(name, number);
  }
  void counter(const char* name, const char* help, std::uint64_t number) {
    head(name, "counter", help);
    value(name, number);
  }
  std::string text() { return std::move(text_); }

 private:
  std::string text_;
};

void write_orders(Metrics& metrics, const OrderCounters& orders) {
  metrics.head("engram_orders_total", "counter", "Orders given over HTTP, by kind and outcome.");
  for (std::size_t kind = 0; kind < kOrderKinds; ++kind) {
    const auto row = [&](const char* outcome) {
      return fmt::format("engram_orders_total{{kind=\"{}\",outcome=\"{}\"}}",
                         name(Order::Kind(kind)), outcome);
    };
    metrics.value(row("done"), orders.done[kind].load());
    metrics.value(row("failed"), orders.failed[kind].load());
    metrics.value(row("skipped"), orders.skipped[kind].load());
  }
}

void write_camera(Metrics& metrics, const LiveState& state) {
  const FeedState& feed = state.feed;
  metrics.counter("engram_frames_total", "Frames that the camera gave.", feed.frames);
  metrics.gauge("engram_frames_per_second", "Frames a second that the camera gives.",
                feed.frames_per_second);
  metrics.gauge("engram_looks_per_second", "Frames a second that are classified.",
                state.looks_per_second);
  metrics.head("engram_camera_state", "gauge", "1 for the state that the camera is in.");
  for (const auto kind : {FeedState::Kind::opening, FeedState::Kind::live, FeedState::Kind::lost,
                          FeedState::Kind::ended}) {
    metrics.value(fmt::format("engram_camera_state{{state=\"{}\"}}", name(kind)),
                  int(feed.kind == kind));
  }
  metrics.counter("engram_camera_reopened_total", "Times that the camera came back.",
                  feed.reopened);
  if (state.engine.kind != EngineState::Kind::none) {
    metrics.gauge("engram_gpu_answers",
                  "1 while the GPU computes the features, 0 while the CPU does.",
                  int(state.engine.kind == EngineState::Kind::answers));
    metrics.gauge("engram_engine_build_ratio", "How far the GPU's engine is built.",
                  state.engine.kind == EngineState::Kind::answers ? 1 : state.engine.fraction);
  }
  metrics.gauge("engram_cpu_instead_of_gpu",
                "1 while the CPU computes although there is a GPU, or was.",
                int(!state.cpu_because.empty()));
  metrics.gauge("engram_paused", "1 while nothing is classified by wish.", int(state.paused));
}

}  // namespace

HttpResponse health_response(const LiveState& state) {
  const bool keeps = state.fault.empty();
  const bool sees = state.feed.kind == FeedState::Kind::live;
  HttpResponse response = json_response({{"status", !keeps ? "failed"
                                                    : sees ? "ok"
                                                           : "waiting"},
                                         {"camera", name(state.feed.kind)},
                                         {"why", !keeps ? state.fault : state.feed.why},
                                         {"cpu_because", state.cpu_because}});
  if (!keeps) response.status = 503;
  return response;
}

HttpResponse metrics_response(const LiveState& state, const OrderCounters& orders,
                              const HttpCounters& http) {
  Metrics metrics;
  metrics.head("engram_build_info", "gauge", "Always 1.");
  metrics.value(fmt::format("engram_build_info{{version=\"{}\"}}", version()), 1);
  write_camera(metrics, state);
  metrics.gauge("engram_backbone_seconds", "Time of the backbone for a frame, lately.",
                state.backbone_ms / 1000);
  metrics.gauge("engram_head_seconds", "Time from features to answers for a frame, lately.",
                state.head_ms / 1000);
  metrics.gauge("engram_classes", "Classes that are known.", state.classes.size());
  metrics.gauge("engram_samples", "Samples that were learned and kept.", state.samples);
  metrics.gauge("engram_open_samples", "Samples of the task that has not ended.",
                state.open_samples);
  metrics.gauge("engram_tasks", "Tasks that ended.", state.tasks);
  if (state.accuracy >= 0) {
    metrics.gauge("engram_accuracy_ratio", "Leave-one-out accuracy at the last end of a task.",
                  state.accuracy);
  }
  write_orders(metrics, orders);
  metrics.gauge("engram_storage_failed", "1 when what is learned cannot be kept.",
                int(!state.fault.empty()));
  metrics.gauge("engram_resident_bytes", "Memory of the process.", state.resident_bytes);
  metrics.gauge("engram_planned_bytes", "Memory that the plan foresees.", state.planned_bytes);
  if (state.temperature >= 0) {
    metrics.gauge("engram_temperature_celsius", "Of the hottest zone.", state.temperature);
  }
  metrics.gauge("engram_throttled", "1 while it looks less often because of heat.",
                int(state.throttled));
  metrics.counter("engram_http_requests_total", "Requests answered.", http.requests);
  metrics.counter("engram_http_refused_total", "Requests and connections refused.", http.refused);
  metrics.gauge("engram_http_connections", "Connections now.", http.connections);
  HttpResponse response;
  response.type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = metrics.text();
  response.headers["Cache-Control"] = "no-store";
  return response;
}

}  // namespace engram
