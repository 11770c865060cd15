#include "platform/backbone_tensorrt.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "platform/device_staging.h"
#include "platform/recorded_tensorrt.h"

namespace engram {

namespace {

constexpr unsigned kMapped = 2;            // CU_MEMHOSTALLOC_DEVICEMAP
constexpr unsigned kNonBlocking = 1;       // CU_STREAM_NON_BLOCKING
constexpr int kDevicePointer = 3;          // CU_POINTER_ATTRIBUTE_DEVICE_POINTER
constexpr int kIsManaged = 8;              // CU_POINTER_ATTRIBUTE_IS_MANAGED
constexpr DeviceAddress kAlignment = 256;  // that TensorRT wants of every address

}  // namespace

Result<std::unique_ptr<Backbone>> GpuBackbone::create(const CudaDriver& driver, const Gpu& gpu,
                                                      std::unique_ptr<DeviceNetwork> network) {
  std::unique_ptr<GpuBackbone> made(
      new GpuBackbone(driver, gpu, std::make_unique<RecordedNetwork>(driver, std::move(network))));
  void* context = nullptr;  // what a call that fails leaves behind is not ours to release
  ENGRAM_TRY(driver.check(driver.context_retain(&context, gpu.device), "cuDevicePrimaryCtxRetain"));
  made->context_ = context;
  ENGRAM_TRY(driver.check(driver.context_set(made->context_), "cuCtxSetCurrent"));
  ENGRAM_TRY(driver.check(driver.stream_create(&made->stream_, kNonBlocking), "cuStreamCreate"));
  const auto batch = static_cast<std::size_t>(made->max_batch());
  ENGRAM_TRY(made->allocate(made->inputs_, batch * std::size_t(made->input_values())));
  ENGRAM_TRY(made->allocate(made->features_, batch * std::size_t(made->features())));
  return std::unique_ptr<Backbone>(std::move(made));
}

GpuBackbone::~GpuBackbone() {
  if (context_ == nullptr) return;
  driver_.context_set(context_);
  if (stream_ != nullptr) driver_.stream_synchronize(stream_);
  network_.reset();
  release(inputs_);
  release(features_);
  if (stream_ != nullptr) driver_.stream_destroy(stream_);
  driver_.context_release(gpu_.device);
}

Status GpuBackbone::allocate(Shared& memory, std::size_t values) {
  memory.bytes = values * sizeof(float);
  void* host = nullptr;
  ENGRAM_TRY(driver_.check(driver_.host_allocate(&host, memory.bytes, kMapped), "cuMemHostAlloc"));
  memory.host = static_cast<float*>(host);
  std::memset(host, 0, memory.bytes);  // pictures that fill up a fixed batch are black
  if (gpu_.shares_memory) {
    return driver_.check(driver_.host_address(&memory.device, host, 0),
                         "cuMemHostGetDevicePointer");
  }
  return driver_.check(driver_.device_allocate(&memory.device, memory.bytes), "cuMemAlloc");
}

void GpuBackbone::release(Shared& memory) {
  if (!gpu_.shares_memory && memory.device != 0) driver_.device_free(memory.device);
  if (memory.host != nullptr) driver_.host_free(memory.host);
  memory = {};
}

DeviceAddress GpuBackbone::address_of(MatrixView<const float> memory, int rows) const {
  if (memory.rows != rows || (memory.stride != memory.cols && rows > 1)) return 0;
  const auto knows = [&](void* value, int attribute) {
    const auto here = reinterpret_cast<DeviceAddress>(memory.data);
    return driver_.pointer_attribute(value, attribute, here) == 0;
  };
  DeviceAddress address = 0;
  if (!knows(&address, kDevicePointer) || address % kAlignment != 0) return 0;
  if (gpu_.shares_memory) return address;
  // A card would read what is mapped again and again over its bus; what is managed moves to it once.
  unsigned is_managed = 0;
  return knows(&is_managed, kIsManaged) && is_managed != 0 ? address : 0;
}

Status GpuBackbone::queue_part(int batch, int rows, DeviceAddress from, DeviceAddress to) {
  const auto bytes = [](int values, int count) {
    return std::size_t(values) * std::size_t(count) * sizeof(float);
  };
  if (!gpu_.shares_memory && from == inputs_.device) {
    ENGRAM_TRY(driver_.check(
        driver_.upload(inputs_.device, inputs_.host, bytes(input_values(), batch), stream_),
        "cuMemcpyHtoDAsync"));
  }
  ENGRAM_TRY(network_->enqueue(batch, from, to, stream_));
  if (gpu_.shares_memory || to != features_.device) return {};
  return driver_.check(
      driver_.download(features_.host, features_.device, bytes(features(), rows), stream_),
      "cuMemcpyDtoHAsync");
}

Status GpuBackbone::run_part(MatrixView<const float> inputs, MatrixView<float> features) {
  const auto values = static_cast<std::size_t>(input_values());
  const auto width = static_cast<std::size_t>(this->features());
  const int batch = network_->fixed_batch() ? max_batch() : inputs.rows;
  // The GPU runs from here on: what a learner has in managed memory is nobody else's meanwhile.
  const DeviceHold hold;
  const DeviceAddress from = address_of(inputs, batch), to = address_of(features, batch);
  for (int row = 0; row < inputs.rows && from == 0; ++row) {
    std::memcpy(inputs_.host + values * std::size_t(row), inputs.row(row), values * sizeof(float));
  }
  const Status queued = queue_part(batch, inputs.rows, from != 0 ? from : inputs_.device,
                                   to != 0 ? to : features_.device);
  // Also after a failure: some of the work may be under way, and the hold ends here.
  const Status waited = driver_.check(driver_.stream_synchronize(stream_), "cuStreamSynchronize");
  ENGRAM_TRY(queued);
  ENGRAM_TRY(waited);
  for (int row = 0; row < inputs.rows && to == 0; ++row) {
    std::memcpy(features.row(row), features_.host + width * std::size_t(row),
                width * sizeof(float));
  }
  return {};
}

Status GpuBackbone::run(MatrixView<const float> inputs, MatrixView<float> features) {
  ENGRAM_CHECK(inputs.cols == input_values() && features.cols == this->features() &&
               inputs.rows == features.rows);
  ENGRAM_TRY(driver_.check(driver_.context_set(context_), "cuCtxSetCurrent"));  // of any thread
  for (int first = 0; first < inputs.rows; first += max_batch()) {
    const int count = std::min(max_batch(), inputs.rows - first);
    ENGRAM_TRY(run_part(inputs.row_range(first, count), features.row_range(first, count)));
  }
  return {};
}

}  // namespace engram
