// The emulated device's recordings: a list of what was launched.
#include "platform/device_recording.h"

#include <utility>
#include <vector>

#include "platform/device.h"
#include "platform/device_trial_simt.h"
#include "platform/simt_recording.h"

namespace engram::simt {
namespace {

using Recording = std::vector<std::function<Status()>>;
thread_local Recording* open_one = nullptr;
std::size_t recordings = 0;

Status begin(Stream /*stream*/) {
  ENGRAM_CHECK(open_one == nullptr);
  open_one = new Recording();
  return Status();
}

Result<void*> end(Stream /*stream*/) {
  ENGRAM_CHECK(open_one != nullptr);
  Recording* const ended = std::exchange(open_one, nullptr);
  ++recordings;
  if (device_trial().records) return static_cast<void*>(ended);
  delete ended;
  return device_failed("cudaStreamEndCapture", "operation failed during stream capture");
}

Status replay(Stream /*stream*/, void* recording) {
  for (const auto& work : *static_cast<Recording*>(recording)) ENGRAM_TRY(work());
  return Status();
}

void forget(void* recording) {
  delete static_cast<Recording*>(recording);
}

}  // namespace

const DeviceRecordings kRecordings{begin, end, replay, forget};

bool is_recording() {
  return open_one != nullptr;
}
void record(std::function<Status()> work) {
  open_one->push_back(std::move(work));
}

std::size_t device_recordings() {
  return recordings;
}

}  // namespace engram::simt
