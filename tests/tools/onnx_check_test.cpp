#include "tools/convert/onnx_check.h"

#include <string>

#include "platform/protobuf_writer.h"
#include "tests/support/archive_files.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tools/convert/onnx_writer.h"

using namespace engram;
using namespace engram::test;

namespace {

Result<OnnxSummary> check(const std::string& file) {
  return check_onnx(bytes_of(file), "net.onnx");
}

std::string good() {
  OnnxWriter net("test");
  const float weights[] = {1, 2};
  net.input("image", {OnnxWriter::kBatch, 3, 8, 8});
  net.input("w", {2});  // as files before 2019 list weights
  net.weights("w", {2}, weights);
  net.node("GlobalAveragePool", {"image"}, {"pooled"});
  net.node("Flatten", {"pooled"}, {"y"}, {{"axis", std::int64_t{1}}});
  net.output("y", {OnnxWriter::kBatch, 3});
  return net.finish();
}

std::string bytes_field(int number, const std::string& content) {
  std::string result;
  put_bytes(result, number, content);
  return result;
}
std::string whole_field(int number, std::int64_t value) {
  std::string result;
  put_whole(result, number, value);
  return result;
}
// The good file with something more in its graph.
Status with_graph(const std::string& fields) {
  return check(good() + bytes_field(7, fields)).status();
}
Status with_weight(const std::string& tensor) {
  return with_graph(bytes_field(5, tensor));
}

}  // namespace

TEST_CASE("an ONNX file tells its inputs and outputs", "[tools][onnx_check]") {
  auto summary = check(good());
  REQUIRE(summary.ok());
  CHECK(summary->opset == OnnxWriter::kOpset);
  CHECK(summary->nodes == 2);
  REQUIRE(summary->inputs.size() == 1);
  CHECK(summary->inputs[0].name == "image");
  CHECK(summary->inputs[0].shape == std::vector<std::int64_t>{-1, 3, 8, 8});
  REQUIRE(summary->outputs.size() == 1);
  CHECK(summary->outputs[0].name == "y");
}

TEST_CASE("what is not ONNX is said to be so", "[tools][onnx_check]") {
  for (const std::string& file :
       {std::string(), std::string("not a model"), std::string(1000, '\0'),
        std::string("\x89PNG\r\n\x1a\n"), std::string("PK\3\4"), whole_field(1, 8)}) {
    CHECK(says(check(file).status(), "not an ONNX file"));
  }
  CHECK(says(check(good().substr(0, 60)).status(), "damaged or cut off"));
}

TEST_CASE("a file cut off anywhere is refused", "[tools][onnx_check]") {
  const std::string file = good();
  for (std::size_t size = 0; size < file.size(); ++size) {
    CHECK_FALSE(check(file.substr(0, size)).ok());
  }
}

TEST_CASE("weights in other files are refused wherever they hide", "[tools][onnx_check]") {
  const std::string location = bytes_field(1, "location") + bytes_field(2, "../../etc/passwd");
  const std::string tensor =
      whole_field(1, 4) + whole_field(2, 1) + bytes_field(13, location) + whole_field(14, 1);
  const auto attribute = [](int field, const std::string& content) {
    return bytes_field(1, bytes_field(5, bytes_field(field, content)));  // a node with it
  };
  CHECK(says(with_weight(tensor), "external data"));
  CHECK(says(with_graph(attribute(5, tensor)), "external data"));
  CHECK(says(with_graph(attribute(10, tensor)), "external data"));
  CHECK(says(with_graph(attribute(6, bytes_field(5, tensor))), "external data"));
  CHECK(says(with_graph(attribute(22, bytes_field(1, tensor))), "external data"));
  CHECK(says(with_graph(bytes_field(15, bytes_field(1, tensor))), "external data"));
  const std::string function = bytes_field(7, bytes_field(5, bytes_field(5, tensor)));
  CHECK(says(check(good() + bytes_field(25, function)).status(), "external data"));
}

TEST_CASE("tensors that lie about their size are refused", "[tools][onnx_check]") {
  const std::string four = floats({1, 2, 3, 4});
  const std::string type = whole_field(2, 1);
  CHECK(with_weight(whole_field(1, 4) + type + bytes_field(9, four)).ok());
  CHECK(with_weight(whole_field(1, 4) + type + bytes_field(4, four)).ok());
  CHECK(says(with_weight(whole_field(1, 5) + type + bytes_field(9, four)), "disagree"));
  CHECK(says(with_weight(whole_field(1, 1'000'000'000) + type), "disagree"));
  CHECK(says(with_weight(whole_field(1, -1) + type), "impossible size"));
  CHECK(says(with_weight(whole_field(1, 1 << 30) + whole_field(1, 1 << 30) + type), "impossible"));
  std::string dims;
  for (int i = 0; i < 17; ++i) dims += whole_field(1, 1);
  CHECK(says(with_weight(dims), "16 dimensions"));
}

TEST_CASE("graphs beyond reason are refused", "[tools][onnx_check]") {
  std::string nested;
  for (int depth = 0; depth < 12; ++depth) {
    nested = bytes_field(1, bytes_field(5, bytes_field(6, nested)));
  }
  CHECK(says(with_graph(nested), "nested too deeply"));
  std::string many;
  for (int i = 0; i < 500'001; ++i) many += bytes_field(1, "");
  CHECK(says(with_graph(many), "500 000"));
  std::string functions;
  for (int i = 0; i < 1'001; ++i) functions += bytes_field(25, "");
  CHECK(says(check(good() + functions).status(), "1 000 functions"));
  CHECK(says(with_weight(bytes_field(8, std::string(2000, 'n'))), "too long"));
  OnnxWriter empty("test");
  CHECK(says(check(empty.finish()).status(), "no operations"));
}
