// An EngineLibrary without a GPU. Everything around it is real: the child process, its limits, the
// pipe, the files. "fake" builds; after a colon its name says what goes wrong in the child:
//
//   fake:crash  fake:hungry  fake:slow  fake:silent  fake:refuses  fake:throws  fake:float-only
//   fake:half-refused  fake:half-crash
#pragma once

#include <string>

#include "platform/engine_library.h"

namespace engram::test {

class FakeEngineLibrary final : public EngineLibrary {
 public:
  explicit FakeEngineLibrary(std::string name = "fake") : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  Result<EngineDevice> device() override;
  // The engine: the precision, a space, and the ONNX file as it came.
  Result<std::vector<std::byte>> build(std::span<const std::byte> onnx,
                                       const EngineRequest& request,
                                       const EngineProgress& progress) override;
  // A backbone whose features are the number of bytes of the engine.
  Result<std::unique_ptr<Backbone>> open(std::span<const std::byte> engine,
                                         const EngineRequest& request) override;

  bool has_gpu = true;
  int driver = 12060;
  float value = 0;  // of all features of backbones that it opens; 0: as said above
  int features = 2;
  int refuse_to_open = 0;         // so many times
  std::vector<std::byte> opened;  // the last engine
 private:
  std::string name_;
};

// For serve_engine_build().
EngineLibrary* find_fake_library(const std::string& name);

}  // namespace engram::test
