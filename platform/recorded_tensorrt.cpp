#include "platform/recorded_tensorrt.h"

#include <utility>

namespace engram {

namespace {

constexpr int kTimesBefore = 3;          // a batch of another size now and then is not worth it
constexpr int kCaptureOfThisThread = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: others may go on

}  // namespace

Status RecordedNetwork::enqueue(int batch, DeviceAddress inputs, DeviceAddress features,
                                void* stream) {
  if (const Work work{batch, inputs, features}; work != last_) {
    forget();
    last_ = work;
    times_ = 0;
  }
  if (recording_ == nullptr && can_record_ && times_ >= kTimesBefore) {
    record(stream);
    can_record_ = recording_ != nullptr;
  }
  if (recording_ != nullptr) {
    return driver_.check(driver_.graph_launch(recording_, stream), "cuGraphLaunch");
  }
  ENGRAM_TRY(network_->enqueue(batch, inputs, features, stream));
  ++times_;
  return {};
}

// What fails here is no failure of the network: it runs without a recording, or says itself why not.
void RecordedNetwork::record(void* stream) {
  if (driver_.capture_begin(stream, kCaptureOfThisThread) != 0) return;
  const Status queued = network_->enqueue(last_.batch, last_.inputs, last_.features, stream);
  void* graph = nullptr;
  if (driver_.capture_end(stream, &graph) != 0 || graph == nullptr) return;
  void* recording = nullptr;
  if (queued.ok() && driver_.graph_instantiate(&recording, graph, 0) == 0) recording_ = recording;
  driver_.graph_destroy(graph);
}

void RecordedNetwork::forget() {
  if (recording_ != nullptr) driver_.graph_exec_destroy(std::exchange(recording_, nullptr));
}

}  // namespace engram
