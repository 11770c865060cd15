// A network's work recorded once and repeated: one CUDA graph in place of a launch for each of its
// layers, of which every one costs the processor some microseconds.
//
// TensorRT lets its work be recorded once it has run with the same shape, and a recording is good as
// long as nothing else is asked of its context. So the same batch at the same addresses is recorded
// after a few times, which is what a camera gives, and anything else forgets the recording. A network
// that cannot be recorded runs as before.
#pragma once

#include <memory>

#include "platform/backbone_tensorrt.h"

namespace engram {

class RecordedNetwork final : public DeviceNetwork {
 public:
  RecordedNetwork(const CudaDriver& driver, std::unique_ptr<DeviceNetwork> network)
      : driver_(driver), network_(std::move(network)) {}
  ~RecordedNetwork() override { forget(); }

  int input_values() const override { return network_->input_values(); }
  int features() const override { return network_->features(); }
  int max_batch() const override { return network_->max_batch(); }
  bool fixed_batch() const override { return network_->fixed_batch(); }
  Status enqueue(int batch, DeviceAddress inputs, DeviceAddress features, void* stream) override;

 private:
  struct Work {
    int batch = 0;
    DeviceAddress inputs = 0, features = 0;
    bool operator==(const Work&) const = default;
  };
  void record(void* stream);
  void forget();

  CudaDriver driver_;
  std::unique_ptr<DeviceNetwork> network_;
  Work last_;
  int times_ = 0;  // that last_ ran, one launch after another
  bool can_record_ = true;
  void* recording_ = nullptr;  // of last_
};

}  // namespace engram
