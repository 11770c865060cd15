#include "platform/builder_tensorrt.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include <NvInfer.h>
#include <NvOnnxParser.h>

#include "platform/build_phases.h"
#include "platform/logger_tensorrt.h"

namespace engram {

namespace {

class Monitor final : public nvinfer1::IProgressMonitor {
 public:
  explicit Monitor(const EngineProgress& progress) : progress_(progress) {}
  void phaseStart(const char* phase, const char* parent, std::int32_t steps) noexcept override {
    const std::lock_guard<std::mutex> hold(guard_);
    phases_.start(phase, parent == nullptr ? "" : parent, steps);
  }
  bool stepComplete(const char* phase, std::int32_t step) noexcept override {
    const std::lock_guard<std::mutex> hold(guard_);
    phases_.step(phase, step);
    progress_(phases_.fraction());
    return true;
  }
  void phaseFinish(const char* phase) noexcept override {
    const std::lock_guard<std::mutex> hold(guard_);
    phases_.finish(phase);
    progress_(phases_.fraction());
  }

 private:
  std::mutex guard_;  // TensorRT reports from several threads
  BuildPhases phases_;
  const EngineProgress& progress_;
};

Status cannot(Code code, const EngineRequest& request, const std::string& why) {
  return Status(code, fmt::format("{}: TensorRT cannot use it: {}", request.model, why));
}

Status parse(nvonnxparser::IParser& parser, std::span<const std::byte> onnx,
             const EngineRequest& request) {
  if (parser.parse(onnx.data(), onnx.size(), nullptr)) return {};
  if (parser.getNbErrors() == 0) return cannot(Code::bad_data, request, "no reason given");
  const nvonnxparser::IParserError& error = *parser.getError(0);
  const char* operation = error.nodeOperator();
  return cannot(Code::bad_data, request,
                fmt::format("{}{}{}", operation == nullptr ? "" : operation,
                            operation == nullptr ? "" : ": ", error.desc()));
}

// The tensor request.output, inner ones too, becomes the one output; no name: the only one.
Status choose_output(nvinfer1::INetworkDefinition& network, const EngineRequest& request) {
  const int outputs = network.getNbOutputs();
  if (request.output.empty()) {
    if (outputs == 1) return {};
    return cannot(Code::bad_data, request,
                  fmt::format("it has {} outputs, and its card names none of them", outputs));
  }
  nvinfer1::ITensor* found = nullptr;
  for (int i = outputs - 1; i >= 0; --i) {
    nvinfer1::ITensor* output = network.getOutput(i);
    if (request.output == output->getName()) {
      found = output;
    } else {
      network.unmarkOutput(*output);
    }
  }
  if (found != nullptr) return {};
  for (int i = 0; i < network.getNbLayers(); ++i) {
    nvinfer1::ILayer* layer = network.getLayer(i);
    for (int j = 0; j < layer->getNbOutputs(); ++j) {
      nvinfer1::ITensor* tensor = layer->getOutput(j);
      if (tensor == nullptr || request.output != tensor->getName()) continue;
      network.markOutput(*tensor);
      return {};
    }
  }
  return cannot(Code::bad_data, request, fmt::format("it has no tensor \"{}\"", request.output));
}

// Shapes from 1 to request.batch pictures, where the model leaves the batch open.
Status choose_shapes(nvinfer1::IBuilder& builder, nvinfer1::INetworkDefinition& network,
                     nvinfer1::IBuilderConfig& config, const EngineRequest& request) {
  if (network.getNbInputs() != 1) return cannot(Code::bad_data, request, "it has several inputs");
  nvinfer1::ITensor& input = *network.getInput(0);
  const nvinfer1::Dims dims = input.getDimensions();
  if (dims.nbDims != 4) return cannot(Code::bad_data, request, "its input is not a picture");
  if (std::all_of(dims.d, dims.d + 4, [](auto size) { return size >= 0; })) return {};
  nvinfer1::IOptimizationProfile* profile = builder.createOptimizationProfile();
  const auto shape = [&](int batch) {
    return nvinfer1::Dims4(dims.d[0] >= 0 ? dims.d[0] : batch, 3, request.height, request.width);
  };
  using Select = nvinfer1::OptProfileSelector;
  const bool taken = profile->setDimensions(input.getName(), Select::kMIN, shape(1)) &&
                     profile->setDimensions(input.getName(), Select::kOPT, shape(1)) &&
                     profile->setDimensions(input.getName(), Select::kMAX, shape(request.batch)) &&
                     profile->isValid() && config.addOptimizationProfile(profile) >= 0;
  return taken ? Status()
               : cannot(Code::bad_data, request, "it does not take pictures of this size");
}

}  // namespace

Result<std::vector<std::byte>> build_tensorrt(const TensorRtFunctions& functions,
                                              std::span<const std::byte> onnx,
                                              const EngineRequest& request,
                                              const EngineProgress& progress) {
  const TensorRtErrors errors;
  nvinfer1::ILogger* const logger = &TensorRtLogger::of_process();
  const std::unique_ptr<nvinfer1::IBuilder> builder(
      static_cast<nvinfer1::IBuilder*>(functions.create_builder(logger, NV_TENSORRT_VERSION)));
  if (!builder) return cannot(Code::device_failure, request, errors.last());
#if NV_TENSORRT_MAJOR >= 11
  constexpr nvinfer1::NetworkDefinitionCreationFlags kTyped = 0;  // all networks are
#else
  constexpr auto kTyped =
      1U << static_cast<unsigned>(nvinfer1::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED);
#endif
  const std::unique_ptr<nvinfer1::INetworkDefinition> network(builder->createNetworkV2(kTyped));
  const std::unique_ptr<nvinfer1::IBuilderConfig> config(builder->createBuilderConfig());
  if (!network || !config) return cannot(Code::device_failure, request, errors.last());
  const std::unique_ptr<nvonnxparser::IParser> parser(static_cast<nvonnxparser::IParser*>(
      functions.create_parser(network.get(), logger, NV_ONNX_PARSER_VERSION)));
  if (!parser) return cannot(Code::device_failure, request, errors.last());
  ENGRAM_TRY(parse(*parser, onnx, request));
  ENGRAM_TRY(choose_output(*network, request));
  ENGRAM_TRY(choose_shapes(*builder, *network, *config, request));

  Monitor monitor(progress);
  config->setProgressMonitor(&monitor);
  config->clearFlag(nvinfer1::BuilderFlag::kTF32);
  config->setMemoryPoolLimit(nvinfer1::MemoryPoolType::kWORKSPACE,
                             static_cast<std::size_t>(request.memory / 4));
  const std::unique_ptr<nvinfer1::IHostMemory> engine(
      builder->buildSerializedNetwork(*network, *config));
  if (!engine || engine->size() == 0) return cannot(Code::device_failure, request, errors.last());
  const auto* bytes = static_cast<const std::byte*>(engine->data());
  return std::vector<std::byte>(bytes, bytes + engine->size());
}

}  // namespace engram
