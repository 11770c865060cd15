// What TensorRT says: warnings are many and for nobody; the last error explains a failure.
//
// TensorRT keeps the first logger that it is given, for the whole process. So there is one, which is
// never destroyed; what it hears is kept apart by thread (thread_messages.h).
#pragma once

#include <string>

#include <NvInfer.h>

#include "platform/thread_messages.h"

namespace engram {

class TensorRtLogger final : public nvinfer1::ILogger {
 public:
  static TensorRtLogger& of_process() {
    static auto* const logger = new TensorRtLogger();
    return *logger;
  }
  void log(Severity severity, const nvinfer1::AsciiChar* text) noexcept override {
    if (severity > Severity::kERROR || text == nullptr) return;
    try {
      messages_.add(text);
    } catch (...) {  // no memory for a message: the failure is reported without it
    }
  }

 private:
  friend class TensorRtErrors;
  TensorRtLogger() = default;

  ThreadMessages messages_;
};

// Those of the calling thread's calls from here on.
class TensorRtErrors {
 public:
  std::string last() const { return messages_.last(since_); }

 private:
  ThreadMessages& messages_ = TensorRtLogger::of_process().messages_;
  ThreadMessages::Mark since_ = messages_.start();
};

}  // namespace engram
