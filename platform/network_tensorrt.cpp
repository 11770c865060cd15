#include "platform/network_tensorrt.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include <NvInfer.h>

#include "platform/logger_tensorrt.h"

namespace engram {

namespace {

class TensorRtNetwork final : public DeviceNetwork {
 public:
  explicit TensorRtNetwork(const EngineRequest& request) : request_(request) {}
  Status open(const TensorRtFunctions& functions, std::span<const std::byte> bytes);

  int input_values() const override { return 3 * request_.height * request_.width; }
  int features() const override { return features_; }
  int max_batch() const override { return batch_; }
  bool fixed_batch() const override { return fixed_batch_; }
  Status enqueue(int batch, DeviceAddress inputs, DeviceAddress features, void* stream) override;

 private:
  Status failed(const std::string& what) const {
    return Status(Code::device_failure,
                  fmt::format("{}: the engine does not run: {}", request_.model, what));
  }
  bool set_batch(int batch);
  Status find_tensors(const TensorRtErrors& errors);

  EngineRequest request_;
  std::unique_ptr<nvinfer1::IRuntime> runtime_;  // outlives the rest: the last goes first
  std::unique_ptr<nvinfer1::ICudaEngine> engine_;
  std::unique_ptr<nvinfer1::IExecutionContext> context_;
  std::string input_, output_;
  int batch_ = 0, features_ = 0;
  int shape_batch_ = 0;  // that the context is set to; 0: none
  bool fixed_batch_ = false;
};

Status TensorRtNetwork::open(const TensorRtFunctions& functions, std::span<const std::byte> bytes) {
  const TensorRtErrors errors;
  nvinfer1::ILogger* const logger = &TensorRtLogger::of_process();
  runtime_.reset(
      static_cast<nvinfer1::IRuntime*>(functions.create_runtime(logger, NV_TENSORRT_VERSION)));
  if (!runtime_) return failed(errors.last());
  engine_.reset(runtime_->deserializeCudaEngine(bytes.data(), bytes.size()));
  if (!engine_) return failed(errors.last());
  context_.reset(engine_->createExecutionContext());
  if (!context_) return failed(errors.last());
  return find_tensors(errors);
}

// One input of pictures, one output of floats; L from the shape that comes out for one picture.
Status TensorRtNetwork::find_tensors(const TensorRtErrors& errors) {
  for (int i = 0; i < engine_->getNbIOTensors(); ++i) {
    const char* name = engine_->getIOTensorName(i);
    const bool is_input = engine_->getTensorIOMode(name) == nvinfer1::TensorIOMode::kINPUT;
    std::string& place = is_input ? input_ : output_;
    if (!place.empty() || engine_->getTensorDataType(name) != nvinfer1::DataType::kFLOAT) {
      return failed("it has other inputs and outputs than a backbone");
    }
    place = name;
  }
  if (input_.empty() || output_.empty()) return failed("it has no input or no output");
  const nvinfer1::Dims input = engine_->getTensorShape(input_.c_str());
  fixed_batch_ = input.nbDims == 4 && input.d[0] >= 0;
  batch_ = fixed_batch_ ? static_cast<int>(input.d[0]) : request_.batch;
  const int rows = fixed_batch_ ? batch_ : 1;
  if (!set_batch(rows)) return failed(errors.last());
  const nvinfer1::Dims output = context_->getTensorShape(output_.c_str());
  std::int64_t values = 1;
  for (int i = 1; i < output.nbDims; ++i) values *= output.d[i];
  if (output.nbDims < 2 || output.d[0] != rows || values < 1 || values > kMaxFeatures) {
    return failed("it does not give one vector per picture");
  }
  features_ = static_cast<int>(values);
  return {};
}

// Only where it changes: a new shape is worked out, which a recording does not allow.
bool TensorRtNetwork::set_batch(int batch) {
  if (batch == shape_batch_) return true;
  const nvinfer1::Dims4 shape(batch, 3, request_.height, request_.width);
  shape_batch_ = context_->setInputShape(input_.c_str(), shape) ? batch : 0;
  return shape_batch_ == batch;
}

Status TensorRtNetwork::enqueue(int batch, DeviceAddress inputs, DeviceAddress features,
                                void* stream) {
  const TensorRtErrors errors;
  const bool done =
      set_batch(batch) &&
      context_->setTensorAddress(input_.c_str(), reinterpret_cast<void*>(inputs)) &&
      context_->setTensorAddress(output_.c_str(), reinterpret_cast<void*>(features)) &&
      context_->enqueueV3(static_cast<cudaStream_t>(stream));
  return done ? Status() : failed(errors.last());
}

}  // namespace

Result<std::unique_ptr<DeviceNetwork>> open_tensorrt(const TensorRtFunctions& functions,
                                                     std::span<const std::byte> engine,
                                                     const EngineRequest& request) {
  auto network = std::make_unique<TensorRtNetwork>(request);
  ENGRAM_TRY(network->open(functions, engine));
  return std::unique_ptr<DeviceNetwork>(std::move(network));
}

}  // namespace engram
