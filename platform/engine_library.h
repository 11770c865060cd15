// A library that turns an ONNX file into an engine for the GPU of this machine and runs it: TensorRT,
// or a double of it in tests, where no GPU is needed to see what we do around it.
//
// An engine is code. It is built in a child process (engine_build.h), kept in a file that only this
// device accepts (engine_file.h), and answers when it is ready (backbone_switching.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "platform/backbone.h"
#include "platform/status.h"

namespace engram {

enum class Precision : std::uint8_t { full, half };
const char* name(Precision value);  // "float", "half"

// What an engine depends on beside the model.
struct EngineDevice {
  std::string gpu;          // "Orin, compute 8.7"
  std::string library;      // "TensorRT 10.3.0"
  int driver = 0;           // the CUDA version that it knows, as cuDriverGetVersion: 12060
  int multiprocessors = 0;  // that it has now: a Jetson's power mode switches some off
};

struct EngineRequest {
  std::string model;   // path of the ONNX file
  std::string output;  // as BackboneOptions::output
  int height = 224;
  int width = 224;
  int batch = 16;  // pictures per inference at most
  Precision precision = Precision::half;
  std::int64_t memory = std::int64_t{4} << 30;  // bytes that building may take
};

// Called while building: fraction done, 0..1, never smaller than before.
using EngineProgress = std::function<void(double fraction)>;

class EngineLibrary {
 public:
  virtual ~EngineLibrary() = default;
  virtual std::string name() const = 0;  // by which the child process finds it
  // not_supported: no library, no driver, a driver that is too old, no GPU; with a sentence.
  virtual Result<EngineDevice> device() = 0;
  // In the child, from an ONNX file of the precision asked for. bad_data: it has operators that the
  // library does not know, or is broken.
  virtual Result<std::vector<std::byte>> build(std::span<const std::byte> onnx,
                                               const EngineRequest& request,
                                               const EngineProgress& progress) = 0;
  // Only with bytes that this device has built. device_failure: the GPU does not take it.
  virtual Result<std::unique_ptr<Backbone>> open(std::span<const std::byte> engine,
                                                 const EngineRequest& request) = 0;
};

// The one of this build; null: it has none, or was told not to use it.
EngineLibrary* engine_library();
void use_engine_library(bool use);  // --backend cpu says false
bool uses_engine_library();         // whether one would be used

}  // namespace engram
