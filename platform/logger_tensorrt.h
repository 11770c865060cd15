// What TensorRT says: warnings are many and for nobody; the last error explains a failure.
#pragma once

#include <mutex>
#include <string>

#include <NvInfer.h>

namespace engram {

class TensorRtLogger final : public nvinfer1::ILogger {
 public:
  void log(Severity severity, const nvinfer1::AsciiChar* text) noexcept override {
    if (severity > Severity::kERROR || text == nullptr) return;
    const std::lock_guard<std::mutex> hold(guard_);
    try {
      last_ = text;
    } catch (...) {  // no memory for a message: the failure is reported without it
    }
  }
  std::string last() const {
    const std::lock_guard<std::mutex> hold(guard_);
    return last_.empty() ? "no reason given" : last_;
  }

 private:
  mutable std::mutex guard_;
  std::string last_;
};

}  // namespace engram
