// A stranger's ONNX file on its way into half precision: what comes out is well-formed.
#include "platform/onnx_half.h"
#include "tests/fuzz/fuzz_target.h"
#include "tools/convert/onnx_check.h"
#include "tools/convert/onnx_writer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (!engram::check_onnx(bytes, "input").ok()) return 0;  // never converted
  const auto half = engram::onnx_to_half(bytes, "input", "y");
  if (!half.ok()) return 0;
  const std::string& file = half.value().file;
  ENGRAM_CHECK(engram::check_onnx(std::as_bytes(std::span(file)), "output").ok());
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  engram::OnnxWriter net("test");
  const float weights[] = {1, 2, 3, 4e-12f};
  net.input("image", {engram::OnnxWriter::kBatch, 3, 8, 8});
  net.weights("w", {2, 2}, weights);
  net.node("Mul", {"image", "w"}, {"m"});
  net.node("ReduceMean", {"m"}, {"mean"}, {{"axes", std::vector<std::int64_t>{1}}});
  net.node("Sub", {"m", "mean"}, {"s"});
  net.node("Cast", {"s"}, {"c"}, {{"to", std::int64_t{7}}});
  net.node("Gather", {"s", "c"}, {"g"});
  net.node("Flatten", {"g"}, {"y"}, {{"axis", std::int64_t{1}}});
  net.output("y", {engram::OnnxWriter::kBatch, 3});
  return {net.finish()};
}
