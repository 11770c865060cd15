// A driver whose GPU is the host's memory. Every call is counted; one of them can be made to fail.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "platform/backbone_tensorrt.h"
#include "platform/driver_tensorrt.h"

namespace engram::test {

struct FakeDriverState {
  int version = 12060;
  int devices = 1;
  int first_minor = 7;  // of compute capability 8; all others have 8.7
  bool integrated = false;
  int multiprocessors = 8;
  std::string fail_call;  // "cuMemAlloc", ...
  int fail_with = 0;
  int fail_after = 0;  // so many of these calls work first
  int live = 0;        // allocations, streams and contexts that are held
  int uploads = 0, downloads = 0;
  bool is_working = false;                  // something was queued, and nobody has waited
  bool capturing = false, spoiled = false;  // what is queued now is recorded; something waited then
  bool network_waits = false;               // so that it cannot be recorded
  std::vector<std::function<void()>> captured;
  int recordings = 0, replays = 0;
  std::map<DeviceAddress, std::size_t> mapped;   // what cuMemHostAlloc gave, with its bytes
  std::map<DeviceAddress, std::size_t> managed;  // what the CUDA runtime would have given
  // Of the last batch.
  DeviceAddress inputs = 0, features = 0;
};
FakeDriverState& fake_driver_state();
CudaDriver fake_cuda_driver();  // with a new state

// Managed memory, as cudaMallocManaged gives it; held by the state until it is released.
float* take_managed(std::size_t bytes);
void release_managed(float* memory);

// features[0] = sum of the inputs, features[1] = the batch it came in. As TensorRT it takes only
// addresses aligned to 256 bytes.
class FakeNetwork final : public DeviceNetwork {
 public:
  explicit FakeNetwork(bool fixed = false) : fixed_(fixed) {}
  int input_values() const override { return 12; }
  int features() const override { return 2; }
  int max_batch() const override { return 4; }
  bool fixed_batch() const override { return fixed_; }
  Status enqueue(int batch, DeviceAddress inputs, DeviceAddress features, void* stream) override;

 private:
  static void compute(int batch, DeviceAddress inputs, DeviceAddress features);

  bool fixed_;
};

}  // namespace engram::test
