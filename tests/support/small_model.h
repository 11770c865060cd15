// The smallest encoder that half precision changes, as a file: image (N,3,2,2) > means of 0.1 x, (N,3).
#pragma once

#include <string>

#include "platform/engine_library.h"
#include "platform/file.h"
#include "tests/support/temp_directory.h"
#include "tools/convert/onnx_writer.h"

namespace engram::test {

inline EngineRequest small_request(const TempDirectory& folder) {
  OnnxWriter net("small");
  const float tenth = 0.1f;
  net.input("image", {OnnxWriter::kBatch, 3, 2, 2});
  net.weights("tenth", {}, {&tenth, 1});
  net.node("Mul", {"image", "tenth"}, {"x"});
  net.node("GlobalAveragePool", {"x"}, {"pooled"});
  net.node("Flatten", {"pooled"}, {"features"});
  net.output("features", {OnnxWriter::kBatch, 3});
  const std::string file = net.finish();
  EngineRequest request;
  request.model = folder / "model.onnx";
  request.output = "features";
  request.height = 2;
  request.width = 2;
  request.batch = 4;
  ENGRAM_CHECK(replace_file(request.model, std::as_bytes(std::span(file))).ok());
  return request;
}

}  // namespace engram::test
