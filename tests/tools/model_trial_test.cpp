// What a stranger's network may do to a program that only wants to know it: all of it ends in a child.
#include "tools/convert/model_trial.h"

#include <cmath>
#include <functional>
#include <string>

#include "platform/child_process.h"
#include "platform/protobuf_writer.h"
#include "tests/support/catch.h"
#include "tests/support/model_workshop.h"
#include "tests/support/says.h"
#include "tools/convert/add_model.h"
#include "tools/convert/onnx_writer.h"
#include "tools/convert/trial_end.h"

using namespace engram;
using namespace engram::test;

namespace {

constexpr auto kBatch = OnnxWriter::kBatch;

// A network that is harmless with a grey picture: bright pixels make `trips`, from 0 to `most`.
OnnxWriter picky(float most) {
  OnnxWriter net("picky");
  const float threshold[] = {0.3f}, many[] = {most}, zero[] = {0.0f};
  const std::int64_t one[] = {1};
  net.input("image", {kBatch, 3, 16, 16});
  net.weights("threshold", {}, threshold);
  net.weights("many", {}, many);
  net.weights("zero", {}, zero);
  net.whole_numbers("one", {1}, one);
  net.node("GlobalAveragePool", {"image"}, {"pooled"});
  net.node("Flatten", {"pooled"}, {"means"});
  net.node("ReduceMax", {"image"}, {"brightest"}, {{"keepdims", std::int64_t{0}}});
  net.node("Sub", {"brightest", "threshold"}, {"above"});
  net.node("Relu", {"above"}, {"bright"});
  net.node("Mul", {"bright", "many"}, {"much"});
  net.node("Cast", {"much"}, {"trips"}, {{"to", std::int64_t{7}}});
  net.output("features", {kBatch, 3});
  return net;
}

// Expands a number to a square of that side.
std::string memory_bomb() {
  OnnxWriter net = picky(1e6f);
  net.node("Reshape", {"trips", "one"}, {"row"});
  net.node("Add", {"row", "one"}, {"length"});
  net.node("Concat", {"length", "length"}, {"square"}, {{"axis", std::int64_t{0}}});
  net.node("Expand", {"zero", "square"}, {"wide"});
  net.node("ReduceSum", {"wide"}, {"sum"}, {{"keepdims", std::int64_t{0}}});
  net.node("Add", {"means", "sum"}, {"features"});
  return net.finish();
}

// Adds up a number that often, in a loop. (ValueInfoProto: name 1, type 2; GraphProto: node 1, name
// 2, input 11, output 12; NodeProto: input 1, output 2, op_type 4, attribute 5.)
std::string time_bomb() {
  const auto node = [](const char* operation, std::initializer_list<const char*> inputs,
                       const char* output, const std::string& attribute = "") {
    std::string text;
    for (const char* input : inputs) put_bytes(text, 1, std::string_view(input));
    put_bytes(text, 2, std::string_view(output));
    put_bytes(text, 4, std::string_view(operation));
    if (!attribute.empty()) put_bytes(text, 5, attribute);
    return text;
  };
  std::string body;
  put_bytes(body, 1, node("Identity", {"go"}, "goes"));
  put_bytes(body, 1, node("Add", {"sum", "sum"}, "sums"));
  put_bytes(body, 2, std::string_view("body"));
  constexpr int kFloat = 1, kWhole = 7, kTruth = 9;
  const auto value = [&](int field, const char* name, int type) {
    std::string tensor, wrapped, info;
    put_whole(tensor, 1, type);
    put_bytes(tensor, 2, std::string_view());  // a shape of no dimensions
    put_bytes(wrapped, 1, tensor);
    put_bytes(info, 1, std::string_view(name));
    put_bytes(info, 2, wrapped);
    put_bytes(body, field, info);
  };
  value(11, "trip", kWhole), value(11, "go", kTruth), value(11, "sum", kFloat);
  value(12, "goes", kTruth), value(12, "sums", kFloat);
  std::string attribute;
  put_bytes(attribute, 1, std::string_view("body"));
  put_bytes(attribute, 6, body);
  put_whole(attribute, 20, 5);  // a graph
  OnnxWriter net = picky(1e15f);
  net.node("Cast", {"one"}, {"truths"}, {{"to", std::int64_t{kTruth}}});
  net.node("Squeeze", {"truths"}, {"go_on"});
  std::string graph, file = net.finish();
  put_bytes(graph, 1, node("Loop", {"trips", "go_on", "zero"}, "total", attribute));
  put_bytes(graph, 1, node("Add", {"means", "total"}, "features"));
  put_bytes(file, 7, graph);  // protobuf joins it with the graph before
  return file;
}

}  // namespace

TEST_CASE("what the parser cannot bear ends in the child", "[tools][add_model][openvino][child]") {
  const Workshop workshop;
  const BackboneOptions options{.model = workshop.file("encoder.onnx", encoder()),
                                .output = "means",
                                .height = 16,
                                .width = 16,
                                .threads = 1,
                                .batch = 1};
  CHECK(try_model(options)->features == 3);
  CHECK(says(try_model(options, {.seconds = 0}).status(), "longer than 0 s"));
  // A negative axis far outside, an operation with no inputs: OpenVINO's refusal comes back.
  OnnxWriter odd("odd");
  odd.input("image", {1, 3, 16, 16});
  odd.node("Conv", {"image"}, {"y"});
  odd.output("y", {1, 3, 16, 16});
  BackboneOptions wrong = options;
  wrong.model = workshop.file("odd.onnx", odd.finish());
  wrong.output = "";
  const auto report = try_model(wrong);
  REQUIRE_FALSE(report.ok());
  CHECK(report.status().code() == Code::bad_data);
  CHECK(says(report.status(), "odd.onnx"));
}

TEST_CASE("what a child lacked memory for is too large", "[tools][add_model]") {
  const auto refused = [](const Status& failure) {
    return refused_in_trial(failure_line(failure), "large.onnx", std::int64_t{8} << 30);
  };
  for (const Status& failure :
       {Status(Code::out_of_memory, "large.onnx: not enough memory. Take smaller batches"),
        Status(Code::bad_data, "OpenVINO cannot use large.onnx: std::bad_alloc")}) {
    CHECK(refused(failure).code() == Code::bad_data);
    CHECK(says(refused(failure), "large.onnx: it needs more than 8 GB of memory"));
  }
  const Status other = refused(Status(Code::not_found, "no pictures"));
  CHECK(other.code() == Code::not_found);
  CHECK(says(other, "no pictures"));
}

TEST_CASE("what a network does with real pictures alone ends in the child too",
          "[tools][add_model][openvino][child]") {
  const Workshop workshop;
  AddModelRequest request = workshop.request(workshop.file("memory.onnx", memory_bomb()));
  request.preset = "unit";
  const auto refused = add_model(request);
  INFO(refused.status().what());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.status().code() == Code::bad_data);
  CHECK(says(refused.status(), "memory.onnx"));

  StoredModel slow;
  slow.onnx = workshop.file("time.onnx", time_bomb());
  const auto trial = try_model({.model = slow.onnx,
                                .output = "features",
                                .height = 16,
                                .width = 16,
                                .threads = 1,
                                .batch = 1});
  INFO(trial.status().what());
  REQUIRE(trial.ok());
  slow.card.name = "time";
  slow.card.sha256 = std::string(64, 'a');
  slow.card.preprocess.resize = slow.card.preprocess.crop = 16;
  slow.card.preprocess.std = {255, 255, 255};
  slow.card.output = "features";
  slow.card.features = trial->features;
  const auto measured = measure_model(slow, workshop.path("pictures"), 1, {}, {.seconds = 2});
  REQUIRE_FALSE(measured.ok());
  CHECK(says(measured.status(), "time.onnx: it took longer than 2 s"));
  CHECK(workshop.store().list()->empty());
}
