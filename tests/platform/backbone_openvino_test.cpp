#include <functional>
#include <span>
#include <string>
#include <vector>

#include "platform/backbone.h"
#include "platform/file.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"
#include "tools/convert/onnx_writer.h"

using namespace engram;
using namespace engram::test;

namespace {

using Build = std::function<void(OnnxWriter&)>;

std::string onnx_file(const TempDirectory& folder, const Build& build) {
  OnnxWriter writer("test");
  build(writer);
  const std::string bytes = writer.finish();
  const std::string path = folder / "net.onnx";
  REQUIRE(replace_file(path, std::as_bytes(std::span(bytes))).ok());
  return path;
}

// features = mean of each channel, then times 10 in a second output.
Build means(std::int64_t batch, std::int64_t side) {
  return [=](OnnxWriter& net) {
    const float ten = 10;
    net.input("image", {batch, 3, side, side});
    net.weights("ten", {}, {&ten, 1});
    net.node("GlobalAveragePool", {"image"}, {"pooled"});
    net.node("Flatten", {"pooled"}, {"means"});
    net.node("Mul", {"means", "ten"}, {"tens"});
    net.output("means", {batch, 3});
    net.output("tens", {batch, 3});
  };
}

// Picture p has the value 3 p + c in all of channel c.
std::vector<float> pictures(int count, int side) {
  std::vector<float> values;
  for (int p = 0; p < count; ++p) {
    for (int c = 0; c < 3; ++c) {
      values.insert(values.end(), static_cast<std::size_t>(side * side), float(3 * p + c));
    }
  }
  return values;
}

BackboneOptions options(const std::string& model, const std::string& output, int side, int batch) {
  return {.model = model,
          .output = output,
          .height = side,
          .width = side,
          .threads = 1,
          .batch = batch};
}

}  // namespace

TEST_CASE("a backbone gives one row per picture in any batch", "[platform][backbone][openvino]") {
  const TempDirectory folder;
  const std::int64_t batch = GENERATE(as<std::int64_t>{}, OnnxWriter::kBatch, 1, 3);
  const std::string model = onnx_file(folder, means(batch, 4));
  auto opened = open_backbone_openvino(options(model, "tens", 4, 2));
  REQUIRE(opened.ok());
  Backbone& backbone = **opened;
  CHECK(backbone.input_values() == 48);
  CHECK(backbone.features() == 3);
  CHECK(backbone.max_batch() == (batch == OnnxWriter::kBatch ? 2 : batch));

  for (const int count : {0, 1, 2, 5, 1}) {
    const std::vector<float> inputs = pictures(count, 4);
    std::vector<float> features(static_cast<std::size_t>(count) * 4, -1);  // rows of stride 4
    REQUIRE(backbone.run({inputs.data(), count, 48, 48}, {features.data(), count, 3, 4}).ok());
    for (int p = 0; p < count; ++p) {
      for (int c = 0; c < 3; ++c) {
        CHECK(features[static_cast<std::size_t>(4 * p + c)] == float(10 * (3 * p + c)));
      }
      CHECK(features[static_cast<std::size_t>(4 * p + 3)] == -1);
    }
  }
}

TEST_CASE("the features may be any tensor of the model", "[platform][backbone][openvino]") {
  const TempDirectory folder;
  const std::string model = onnx_file(folder, means(OnnxWriter::kBatch, 4));
  for (const char* output : {"means", "pooled"}) {  // (N,3), and inner (N,3,1,1)
    auto opened = open_backbone_openvino(options(model, output, 4, 2));
    REQUIRE(opened.ok());
    CHECK((*opened)->features() == 3);
  }
  const auto unclear = open_backbone_openvino(options(model, "", 4, 2));
  CHECK(says(unclear.status(), "2 outputs (means, tens)"));
  const auto absent = open_backbone_openvino(options(model, "nothing", 4, 2));
  CHECK(says(absent.status(), "no tensor \"nothing\""));
}

TEST_CASE("height and width left open are settled by the options",
          "[platform][backbone][openvino]") {
  const TempDirectory folder;
  const std::string model = onnx_file(folder, means(OnnxWriter::kBatch, OnnxWriter::kBatch));
  auto opened = open_backbone_openvino(options(model, "means", 8, 2));
  REQUIRE(opened.ok());
  CHECK((*opened)->input_values() == 3 * 64);
}

TEST_CASE("what is not a backbone is refused with a sentence", "[platform][backbone][openvino]") {
  const TempDirectory folder;
  struct Wrong {
    Build build;
    const char* output;
    const char* words;
  };
  const Wrong wrongs[] = {
      {means(1, 8), "means", "not 4 x 4 pixels"},
      {[](OnnxWriter& net) {
         net.input("x", {1, 12});
         net.node("Relu", {"x"}, {"y"});
         net.output("y", {1, 12});
       },
       "", "(N, 3, height, width)"},
      {[](OnnxWriter& net) {
         net.input("x", {OnnxWriter::kBatch, 4, 4, 3});
         net.node("Relu", {"x"}, {"y"});
         net.output("y", {OnnxWriter::kBatch, 4, 4, 3});
       },
       "", "(N, 3, height, width)"},
      {[](OnnxWriter& net) {
         net.input("x", {OnnxWriter::kBatch, 3, 4, 4});
         net.node("Relu", {"x"}, {"y"});
         net.output("y", {OnnxWriter::kBatch, 3, 4, 4});
       },
       "", "--pool"},
      {[](OnnxWriter& net) {
         net.input("x", {1, 3, 4, 4});
         net.input("z", {1, 3, 4, 4});
         net.node("Add", {"x", "z"}, {"y"});
         net.output("y", {1, 3, 4, 4});
       },
       "", "2 inputs"},
      {[](OnnxWriter& net) {
         net.input("x", {1, 3, 4, 4});
         net.node("NoSuchOperation", {"x"}, {"y"});
         net.output("y", {1, 3, 4, 4});
       },
       "", "NoSuchOperation"},
  };
  for (const Wrong& wrong : wrongs) {
    const std::string model = onnx_file(folder, wrong.build);
    const auto opened = open_backbone_openvino(options(model, wrong.output, 4, 2));
    REQUIRE_FALSE(opened.ok());
    INFO(opened.status().what());
    CHECK(opened.status().code() == Code::bad_data);
    CHECK(says(opened.status(), wrong.words));
    CHECK(says(opened.status(), "net.onnx"));
    CHECK_FALSE(says(opened.status(), "\n"));
  }
  CHECK_FALSE(open_backbone_openvino(options(folder / "absent.onnx", "", 4, 2)).ok());
  CHECK(open_backbone_openvino(options("x.onnx", "", 4, 0)).status().code() ==
        Code::invalid_argument);
}

TEST_CASE("what OpenVINO finds no memory for is told as that", "[platform][backbone][openvino]") {
  const TempDirectory folder;
  const std::string model = onnx_file(folder, [](OnnxWriter& net) {
    const std::int64_t many[] = {1, 3, 10'000'000, 10'000'000};
    net.input("image", {1, 3, 4, 4});
    net.whole_numbers("many", {4}, many);
    net.node("GlobalAveragePool", {"image"}, {"pooled"});
    net.node("Expand", {"pooled", "many"}, {"wide"});  // more than a process has addresses
    net.node("ReduceMax", {"wide"}, {"most"},
             {{"axes", std::vector<std::int64_t>{2, 3}}, {"keepdims", std::int64_t{0}}});
    net.output("most", {1, 3});
  });
  const auto opened = open_backbone_openvino(options(model, "", 4, 1));
  REQUIRE_FALSE(opened.ok());
  INFO(opened.status().what());
  CHECK(opened.status().code() == Code::out_of_memory);
  CHECK(says(opened.status(), "net.onnx: not enough memory"));
}
