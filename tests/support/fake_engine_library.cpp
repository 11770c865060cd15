#include "tests/support/fake_engine_library.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "tests/support/fake_backbone.h"

namespace engram::test {

Result<EngineDevice> FakeEngineLibrary::device() {
  if (!has_gpu) return Status(Code::not_supported, "there is no GPU in this machine");
  return EngineDevice{.gpu = "Fake GPU, compute 8.7",
                      .library = "Fake 1.0",
                      .driver = driver,
                      .multiprocessors = 8};
}

Result<std::vector<std::byte>> FakeEngineLibrary::build(std::span<const std::byte> onnx,
                                                        const EngineRequest& request,
                                                        const EngineProgress& progress) {
  const auto fails = [&](const char* how) { return name_ == std::string("fake:") + how; };
  for (int step = 1; step <= 10; ++step) progress(step / 20.0);
  const bool half = request.precision == Precision::half;
  if (fails("crash") || (half && fails("half-crash"))) std::abort();
  if (fails("silent")) std::_Exit(7);
  if (fails("throws")) throw std::runtime_error("a tactic was lost");
  if (fails("refuses") || (half && fails("half-refused"))) {
    return Status(Code::bad_data, request.model + ": the operator Foo\nis not supported");
  }
  if (half && fails("float-only")) {
    return Status(Code::not_supported, request.model + ": half is not for this one");
  }
  if (fails("slow")) ::sleep(60);
  if (fails("hungry")) {
    const std::size_t bytes = std::size_t(request.memory) * 2;
    auto* memory = static_cast<char*>(::operator new(bytes));
    std::memset(memory, 1, bytes);
    progress(memory[bytes / 2] * 0.9);
    ::operator delete(memory);
  }
  const std::string head = std::string(engram::name(request.precision)) + " ";
  std::vector<std::byte> engine;
  for (const char c : head) engine.push_back(std::byte(c));
  engine.insert(engine.end(), onnx.begin(), onnx.end());
  progress(1);
  return engine;
}

Result<std::unique_ptr<Backbone>> FakeEngineLibrary::open(std::span<const std::byte> engine,
                                                          const EngineRequest& request) {
  if (refuse_to_open > 0) {
    --refuse_to_open;
    return Status(Code::device_failure, "the GPU does not take this engine");
  }
  opened.assign(engine.begin(), engine.end());
  return std::unique_ptr<Backbone>(
      std::make_unique<FakeBackbone>(3 * request.height * request.width, features,
                                     value != 0 ? value : static_cast<float>(engine.size())));
}

EngineLibrary* find_fake_library(const std::string& name) {
  if (name.rfind("fake", 0) != 0) return nullptr;
  static FakeEngineLibrary library(name);
  return &library;
}

}  // namespace engram::test
