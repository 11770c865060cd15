#include "platform/library_tensorrt.h"

#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "platform/backbone_tensorrt.h"
#include "platform/builder_tensorrt.h"
#include "platform/device_staging.h"
#include "platform/functions_tensorrt.h"
#include "platform/network_tensorrt.h"

namespace engram {

namespace {

class TensorRtLibrary final : public EngineLibrary {
 public:
  std::string name() const override { return "tensorrt"; }

  Result<EngineDevice> device() override {
    ENGRAM_TRY(find());
    const int version = functions_->library_version();
    return EngineDevice{.gpu = gpu_->name,
                        .library = fmt::format("TensorRT {}.{}.{}", version / 10000,
                                               version % 10000 / 100, version % 100),
                        .driver = gpu_->driver,
                        .multiprocessors = gpu_->multiprocessors};
  }

  Result<std::vector<std::byte>> build(std::span<const std::byte> onnx,
                                       const EngineRequest& request,
                                       const EngineProgress& progress) override {
    ENGRAM_TRY(find());
    void* context = nullptr;  // TensorRT builds for the GPU that is current
    ENGRAM_TRY(driver_->check(driver_->context_retain(&context, gpu_->device),
                              "cuDevicePrimaryCtxRetain"));
    Status current = driver_->check(driver_->context_set(context), "cuCtxSetCurrent");
    Result<std::vector<std::byte>> engine =
        current.ok() ? build_tensorrt(*functions_, onnx, request, progress) : std::move(current);
    driver_->context_release(gpu_->device);
    return engine;
  }

  Result<std::unique_ptr<Backbone>> open(std::span<const std::byte> engine,
                                         const EngineRequest& request) override {
    ENGRAM_TRY(find());
    void* context = nullptr;  // held by GpuBackbone from then on; here only until it is
    ENGRAM_TRY(driver_->check(driver_->context_retain(&context, gpu_->device),
                              "cuDevicePrimaryCtxRetain"));
    Result<std::unique_ptr<Backbone>> opened = open_here(engine, request, context);
    driver_->context_release(gpu_->device);
    return opened;
  }

 private:
  // The driver and a GPU first: TensorRT without a GPU gives pointers that crash.
  Status find() {
    const std::lock_guard<std::mutex> hold(guard_);
    if (functions_) return {};
    ENGRAM_ASSIGN(driver_, load_cuda_driver());
    ENGRAM_ASSIGN(gpu_, find_gpu(*driver_));
    ENGRAM_ASSIGN(functions_, load_tensorrt());
    return {};
  }
  Result<std::unique_ptr<Backbone>> open_here(std::span<const std::byte> engine,
                                              const EngineRequest& request, void* context) {
    ENGRAM_TRY(driver_->check(driver_->context_set(context), "cuCtxSetCurrent"));
    // The GPU works while an engine is opened: nobody touches managed memory meanwhile.
    const DeviceHold hold;
    ENGRAM_ASSIGN(auto network, open_tensorrt(*functions_, engine, request));
    return GpuBackbone::create(*driver_, *gpu_, std::move(network));
  }

  std::mutex guard_;
  std::optional<CudaDriver> driver_;
  std::optional<Gpu> gpu_;
  std::optional<TensorRtFunctions> functions_;
};

}  // namespace

EngineLibrary& tensorrt_library() {
  static TensorRtLibrary library;
  return library;
}

}  // namespace engram
