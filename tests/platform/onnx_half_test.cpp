#include "platform/onnx_half.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "platform/backbone.h"
#include "platform/file.h"
#include "platform/half.h"
#include "platform/protobuf_writer.h"
#include "tests/support/archive_files.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"
#include "tools/convert/onnx_check.h"
#include "tools/convert/onnx_writer.h"

using namespace engram;
using namespace engram::test;

namespace {

constexpr auto kBatch = OnnxWriter::kBatch;
using Build = std::function<void(OnnxWriter&)>;

// image (N,3,2,2) > `build` makes "x" of the same shape > means over pixels, (N,3).
std::string encoder(const Build& build) {
  OnnxWriter net("test");
  net.input("image", {kBatch, 3, 2, 2});
  build(net);
  net.node("GlobalAveragePool", {"x"}, {"pooled"});
  net.node("Flatten", {"pooled"}, {"features"});
  net.output("features", {kBatch, 3});
  return net.finish();
}

void scalar(OnnxWriter& net, const char* name, float value) {
  net.weights(name, {}, {&value, 1});
}

HalfOnnx converted(const std::string& file, const std::string& output = "features") {
  auto half = onnx_to_half(bytes_of(file), "net.onnx", output);
  INFO(half.status().what());
  REQUIRE(half.ok());
  REQUIRE(check_onnx(bytes_of(half->file), "half.onnx").ok());
  return std::move(half).value();
}

// The first feature of a picture that is `value` all over.
float feature(const std::string& file, float value, bool round_halves) {
  const TempDirectory folder;
  REQUIRE(replace_file(folder / "half.onnx", bytes_of(file)).ok());
  auto backbone = open_backbone_openvino({.model = folder / "half.onnx",
                                          .output = "features",
                                          .height = 2,
                                          .width = 2,
                                          .threads = 1,
                                          .batch = 1,
                                          .round_halves = round_halves});
  INFO(backbone.status().what());
  REQUIRE(backbone.ok());
  const std::vector<float> picture(12, value);
  std::vector<float> features(3);
  REQUIRE((*backbone)->run({picture.data(), 1, 12, 12}, {features.data(), 1, 3, 3}).ok());
  CHECK_THAT(features[2], Catch::Matchers::WithinULP(features[0], 0));
  return features[0];
}

// 0.1 x + 1000: each step rounds.
std::string line() {
  return encoder([](OnnxWriter& net) {
    scalar(net, "tenth", 0.1f);
    scalar(net, "thousand", 1000);
    net.node("Mul", {"image", "tenth"}, {"y"});
    net.node("Add", {"y", "thousand"}, {"x"});
  });
}

}  // namespace

TEST_CASE("weights and results between operations are halves", "[platform][onnx_half][openvino]") {
  const HalfOnnx half = converted(line());
  CHECK(half.half_operations == 2);
  CHECK(half.float_operations == 1);  // the pooling
  CHECK(half.casts == 2);             // the picture, and what is pooled
  const float r = rounded_to_half(0.3f) * rounded_to_half(0.1f);
  CHECK(feature(half.file, 0.3f, true) == rounded_to_half(rounded_to_half(r) + 1000));
  CHECK(feature(half.file, 3.0f, true) == 1000.5f);
  // The CPU by itself rounds weights only: what round_halves is for.
  CHECK(feature(half.file, 3.0f, false) == Approx(1000 + 3 * rounded_to_half(0.1f)));
  CHECK(feature(line(), 3.0f, false) == Approx(1000.3f));
}

TEST_CASE("a value beyond half's range is infinite, as on a GPU",
          "[platform][onnx_half][openvino]") {
  const HalfOnnx half = converted(encoder([](OnnxWriter& net) {
    scalar(net, "large", 60000);
    net.node("Mul", {"image", "large"}, {"x"});
  }));
  CHECK(feature(half.file, 1, true) == 60000);
  CHECK(std::isinf(feature(half.file, 2, true)));
}

TEST_CASE("constants that half cannot hold keep their operation in float",
          "[platform][onnx_half][openvino]") {
  const float constant = GENERATE(1e9f, -70000.0f, 1e-12f);
  const HalfOnnx half = converted(encoder([&](OnnxWriter& net) {
    scalar(net, "constant", constant);
    net.node("Mul", {"image", "constant"}, {"x"});
  }));
  CHECK(half.half_operations == 0);
  CHECK(feature(line(), 0, false) == 1000);
  const TempDirectory folder;  // nothing is half, and the check says so
  REQUIRE(replace_file(folder / "half.onnx", bytes_of(half.file)).ok());
  const auto opened = open_backbone_openvino(
      {.model = folder / "half.onnx", .output = "", .height = 2, .width = 2, .round_halves = true});
  CHECK(says(opened.status(), "not in half precision"));
}

TEST_CASE("a normalisation stays in float as a whole", "[platform][onnx_half][openvino]") {
  // y = relu(x); (y - mean) / sqrt(mean((y - mean)^2) + 1e-6) * 2 over channels, as ViTs have it.
  const std::string file = encoder([](OnnxWriter& net) {
    const float weights[] = {300, 600, 900};
    const std::vector<std::int64_t> channels{1};
    net.weights("w", {1, 3, 1, 1}, weights);
    scalar(net, "two", 2);
    scalar(net, "small", 1e-6f);
    net.node("Mul", {"image", "w"}, {"scaled"});
    net.node("Relu", {"scaled"}, {"y"});
    net.node("ReduceMean", {"y"}, {"mean"}, {{"axes", channels}});
    net.node("Sub", {"y", "mean"}, {"centred"});
    net.node("Pow", {"centred", "two"}, {"squares"});
    net.node("ReduceMean", {"squares"}, {"variance"}, {{"axes", channels}});
    net.node("Add", {"variance", "small"}, {"safe"});
    net.node("Sqrt", {"safe"}, {"deviation"});
    net.node("Div", {"centred", "deviation"}, {"normal"});
    net.node("Mul", {"normal", "two"}, {"again"});
    net.node("Sigmoid", {"again"}, {"x"});
  });
  const HalfOnnx half = converted(file);
  CHECK(half.half_operations == 3);  // Mul, Relu, Sigmoid
  CHECK(half.float_operations == 9);
  CHECK(half.casts == 4);  // picture, y, again, x
  // Squares of 300 are beyond half; of three channels the features differ, so ask for the first.
  const TempDirectory folder;
  REQUIRE(replace_file(folder / "half.onnx", bytes_of(half.file)).ok());
  auto backbone = open_backbone_openvino({.model = folder / "half.onnx",
                                          .output = "",
                                          .height = 2,
                                          .width = 2,
                                          .threads = 1,
                                          .round_halves = true});
  REQUIRE(backbone.ok());
  const std::vector<float> picture(12, 1.0f);
  std::vector<float> features(3);
  REQUIRE((*backbone)->run({picture.data(), 1, 12, 12}, {features.data(), 1, 3, 3}).ok());
  const double expected = 1 / (1 + std::exp(2 * std::sqrt(1.5)));
  CHECK(std::abs(features[0] - expected) < 1e-4);
}

TEST_CASE("only what the chosen tensor needs is written", "[platform][onnx_half]") {
  OnnxWriter net("test");
  const std::vector<float> many(5000, 0.5f);
  net.input("image", {kBatch, 3, 2, 2});
  net.weights("many", {5000}, many);
  net.node("Relu", {"image"}, {"inner"});
  net.node("Mul", {"inner", "many"}, {"other"});
  net.node("Sigmoid", {"inner"}, {"features"});
  net.output("other", {kBatch, 5000});
  net.output("features", {kBatch, 3});
  const std::string file = net.finish();
  CHECK(converted(file, "features").file.size() < 1000);
  CHECK(converted(file, "other").file.size() > 10'000);
  CHECK(converted(file, "other").file.size() < 11'000);  // two bytes a weight
  const auto inner = check_onnx(bytes_of(converted(file, "inner").file), "inner.onnx");
  REQUIRE(inner.ok());
  CHECK(inner.value().outputs.at(0).name == "inner");
  const auto unclear = onnx_to_half(bytes_of(file), "net.onnx", "");
  CHECK(says(unclear.status(), "2 outputs"));
}

TEST_CASE("weights stored in half and cast up are weights in half",
          "[platform][onnx_half][openvino]") {
  std::string file = encoder([](OnnxWriter& net) {
    net.node("Cast", {"stored"}, {"weight"}, {{"to", std::int64_t{1}}});
    net.node("Mul", {"image", "weight"}, {"x"});
  });
  std::string tensor, graph;  // TensorProto: data_type FLOAT16, name, raw_data
  put_whole(tensor, 2, 10);
  put_bytes(tensor, 8, "stored");
  const std::uint16_t quarter = to_half(0.25f);
  put_bytes(tensor, 9, {reinterpret_cast<const char*>(&quarter), 2});
  put_bytes(graph, 5, tensor);
  put_bytes(file, 7, graph);  // protobuf joins the two graphs
  const HalfOnnx half = converted(file);
  CHECK(half.half_operations == 1);
  CHECK(half.casts == 2);
  CHECK(feature(half.file, 8, true) == 2);
}

TEST_CASE("what cannot be converted is refused with a sentence", "[platform][onnx_half]") {
  struct Wrong {
    Build build;
    Code code;
    const char* words;
  };
  const Wrong wrongs[] = {
      {[](OnnxWriter& net) { net.node("LSTM", {"image"}, {"x"}); }, Code::not_supported,
       "operator LSTM"},
      {[](OnnxWriter& net) {
         net.node("Cast", {"image"}, {"y"}, {{"to", std::int64_t{10}}});
         net.node("Cast", {"y"}, {"x"}, {{"to", std::int64_t{1}}});
       },
       Code::not_supported, "mixed precision"},
      {[](OnnxWriter& net) {
         net.node("Add", {"image", "nowhere"}, {"x"});
       },
       Code::bad_data, "\"nowhere\" is used before it is made"},
      {[](OnnxWriter& net) {
         net.input("other", {kBatch, 3, 2, 2});
         net.node("Add", {"image", "other"}, {"x"});
       },
       Code::bad_data, "several inputs"},
      {[](OnnxWriter& net) {
         net.node("Relu", {"image"}, {"x"});
         net.node("Sigmoid", {"image"}, {"x"});
       },
       Code::bad_data, "two operations make the tensor \"x\""},
  };
  for (const Wrong& wrong : wrongs) {
    const auto half = onnx_to_half(bytes_of(encoder(wrong.build)), "net.onnx", "features");
    REQUIRE_FALSE(half.ok());
    INFO(half.status().what());
    CHECK(half.status().code() == wrong.code);
    CHECK(says(half.status(), wrong.words));
    CHECK(says(half.status(), "net.onnx"));
  }
  CHECK(says(onnx_to_half(bytes_of(line()), "net.onnx", "nothing").status(), "\"nothing\""));
  const std::string whole = line();
  for (std::size_t size = 0; size < whole.size(); ++size) {  // cut off anywhere: no crash
    const auto half = onnx_to_half(bytes_of(whole).first(size), "net.onnx", "features");
    if (half.ok()) CHECK(size > whole.size() / 2);
  }
}
