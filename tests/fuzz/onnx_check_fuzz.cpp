// The first look at an ONNX file.
#include "tests/fuzz/fuzz_target.h"
#include "tools/convert/onnx_check.h"
#include "tools/convert/onnx_writer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto summary = engram::check_onnx(std::as_bytes(std::span(data, size)), "input");
  if (!summary.ok()) return 0;
  ENGRAM_CHECK(!summary.value().inputs.empty() && !summary.value().outputs.empty());
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  engram::OnnxWriter net("test");
  const float weights[] = {1, 2, 3, 4};
  net.input("image", {engram::OnnxWriter::kBatch, 3, 8, 8});
  net.weights("w", {2, 2}, weights);
  net.node("GlobalAveragePool", {"image"}, {"pooled"});
  net.node("Flatten", {"pooled"}, {"y"}, {{"axis", std::int64_t{1}}});
  net.output("y", {engram::OnnxWriter::kBatch, 3});
  return {net.finish()};
}
