// A backbone on the GPU: a network that TensorRT runs, and the memory between it and the host.
//
// The network reads and writes the caller's own memory where the GPU may (platform/buffer_allocator.h,
// SharedVector): managed memory, and where CPU and GPU share memory (every Jetson) also memory of the
// host that is mapped. So features go from TensorRT to the learner without a copy. Other memory goes by
// way of ours: with a copy on the host, and where the GPU has its own memory, inputs go up and features
// come down on one stream. The host waits once, for the features. The network's own work is repeated as
// one CUDA graph (recorded_tensorrt.h).
#pragma once

#include <memory>

#include "platform/backbone.h"
#include "platform/driver_tensorrt.h"
#include "platform/status.h"

namespace engram {

// What TensorRT computes; the double of tests does so on the host.
class DeviceNetwork {
 public:
  virtual ~DeviceNetwork() = default;
  virtual int input_values() const = 0;  // floats per picture
  virtual int features() const = 0;
  virtual int max_batch() const = 0;
  virtual bool fixed_batch() const = 0;  // takes max_batch() pictures, never fewer
  // inputs (batch, input_values) -> features (batch, L), both of floats on the device, on `stream`;
  // returns before it is done.
  virtual Status enqueue(int batch, DeviceAddress inputs, DeviceAddress features, void* stream) = 0;
};

class GpuBackbone final : public Backbone {
 public:
  // Takes all memory now. out_of_memory: the GPU has no more.
  static Result<std::unique_ptr<Backbone>> create(const CudaDriver& driver, const Gpu& gpu,
                                                  std::unique_ptr<DeviceNetwork> network);
  ~GpuBackbone() override;

  int input_values() const override { return network_->input_values(); }
  int features() const override { return network_->features(); }
  int max_batch() const override { return network_->max_batch(); }
  Status run(MatrixView<const float> inputs, MatrixView<float> features) override;

 private:
  // Memory that the host writes or reads and the device knows by an address.
  struct Shared {
    float* host = nullptr;
    DeviceAddress device = 0;
    std::size_t bytes = 0;
  };
  GpuBackbone(const CudaDriver& driver, const Gpu& gpu, std::unique_ptr<DeviceNetwork> network)
      : driver_(driver), gpu_(gpu), network_(std::move(network)) {}
  Status allocate(Shared& memory, std::size_t values);
  void release(Shared& memory);
  // Where the network may use memory of the caller's; 0: the GPU does not know it, or from afar, or its
  // rows are not `rows` behind one another, or it does not begin where TensorRT can read it.
  DeviceAddress address_of(MatrixView<const float> memory, int rows) const;
  // What comes from or goes to our own memory is copied where the GPU has its own.
  Status queue_part(int batch, int rows, DeviceAddress from, DeviceAddress to);
  Status run_part(MatrixView<const float> inputs, MatrixView<float> features);

  CudaDriver driver_;
  Gpu gpu_;
  std::unique_ptr<DeviceNetwork> network_;
  void* context_ = nullptr;
  void* stream_ = nullptr;
  Shared inputs_, features_;
};

}  // namespace engram
