// The extractor with a backbone of ours in place of OpenVINO.
#include "engine/feature_extractor.h"

#include <chrono>
#include <limits>
#include <new>
#include <stdexcept>
#include <thread>

#include "kernels/kernels.h"
#include "platform/arena.h"
#include "platform/camera_picture.h"
#include "tests/support/catch.h"
#include "tests/support/fake_engine_library.h"
#include "tests/support/says.h"
#include "tests/support/small_model.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

using test::says;

// Two features: the first input value, and how many pictures came in the same call.
struct TwoFeatures : Backbone {
  int input_values() const override { return values; }
  int features() const override { return 2; }
  int max_batch() const override { return batch; }
  Status run(MatrixView<const float> inputs, MatrixView<float> features) override {
    if (fail != nullptr) fail();
    for (int row = 0; row < inputs.rows; ++row) {
      features(row, 0) = inputs(row, 0);
      features(row, 1) = float(inputs.rows);
    }
    return {};
  }
  int values = 3 * 2 * 2;
  int batch = 3;
  void (*fail)() = nullptr;
};

ModelCard card() {
  ModelCard card;
  card.name = "net";
  card.features = 2;
  card.preprocess.resize = card.preprocess.crop = 2;
  card.preprocess.mean = {0, 0, 0};
  card.preprocess.std = {1, 1, 1};
  return card;
}

std::vector<Image> pictures(int count) {
  std::vector<Image> pictures;
  for (int i = 0; i < count; ++i) {
    pictures.push_back({4, 4, std::vector<std::uint8_t>(48, std::uint8_t(10 * i))});
  }
  return pictures;
}

Status extract(Result<FeatureExtractor> extractor, std::vector<float>& features) {
  REQUIRE(extractor.ok());
  const int count = int(features.size()) / 2;
  return extractor->extract(pictures(count), {features.data(), count, 2, 2});
}

Status throwing_preprocess(Stream, PictureView picture, const PreprocessSpec&, MatrixView<float>) {
  if (picture.pixels(0, 0) == 10) throw std::bad_alloc();
  return {};
}

}  // namespace

TEST_CASE("pictures go through in batches, in order", "[engine][feature_extractor]") {
  std::vector<float> features(2 * 7, -1.0f);
  REQUIRE(
      extract(FeatureExtractor::create(card(), std::make_unique<TwoFeatures>()), features).ok());
  REQUIRE(features == std::vector<float>{0, 3, 10, 3, 20, 3, 30, 3, 40, 3, 50, 3, 60, 1});
}

TEST_CASE("a camera's NV12 gives what the same picture in RGB gives",
          "[engine][feature_extractor]") {
  std::vector<std::uint8_t> luma(5 * 7), chroma(3 * 8);
  for (std::size_t i = 0; i < luma.size(); ++i) luma[i] = std::uint8_t(7 * i);
  for (std::size_t i = 0; i < chroma.size(); ++i) chroma[i] = std::uint8_t(100 + 3 * i);
  const auto picture =
      CameraPicture::copy_of({{luma.data(), 5, 7, 7}, {chroma.data(), 3, 8, 8}, kBt709});
  auto extractor = FeatureExtractor::create(card(), std::make_unique<TwoFeatures>());
  REQUIRE(extractor.ok());
  std::vector<float> nv12(2), rgb(2);
  const PictureView view = picture.view();
  REQUIRE(extractor->extract({&view, 1}, {nv12.data(), 1, 2, 2}).ok());
  REQUIRE(extractor->extract({&picture.rgb(), 1}, {rgb.data(), 1, 2, 2}).ok());
  CHECK(nv12 == rgb);
  CHECK(nv12[0] != 0);
}

TEST_CASE("a backbone that is not the card's is refused", "[engine][feature_extractor]") {
  ModelCard other = card();
  other.features = 3;
  const auto extractor = FeatureExtractor::create(other, std::make_unique<TwoFeatures>());
  CHECK(extractor.status().code() == Code::bad_data);
  CHECK(says(extractor.status(), "gives 2 features, its card says 3"));
}

TEST_CASE("no exception leaves the extractor", "[engine][feature_extractor]") {
  std::vector<float> features(2 * 4);
  Kernels kernels = kCpuKernels;
  kernels.preprocess = throwing_preprocess;
  auto throws = FeatureExtractor::create(card(), std::make_unique<TwoFeatures>(), kernels);
  CHECK(extract(std::move(throws), features).code() == Code::out_of_memory);

  struct Case {
    void (*fail)();
    Code code;
    const char* words;
  };
  const Case cases[] = {{[] { throw std::bad_alloc(); }, Code::out_of_memory, "memory"},
                        {[] { throw std::runtime_error("odd"); }, Code::internal, "failed: odd. N"},
                        {[] { throw 7; }, Code::internal, "net"}};
  for (const Case& one : cases) {
    auto backbone = std::make_unique<TwoFeatures>();
    backbone->fail = one.fail;
    const Status status = extract(FeatureExtractor::create(card(), std::move(backbone)), features);
    CHECK(status.code() == one.code);
    CHECK(says(status, one.words));
  }

  auto huge = std::make_unique<TwoFeatures>();  // more inputs than a vector can ever hold
  huge->values = huge->batch = std::numeric_limits<int>::max();
  CHECK(FeatureExtractor::create(card(), std::move(huge)).status().code() == Code::out_of_memory);
}

TEST_CASE("an engine is built with no more than half of the machine's memory",
          "[engine][feature_extractor]") {
  StoredModel model;
  model.card = card();
  const std::int64_t memory = engine_order(model, "home", nullptr).request.memory;
  CHECK(memory > 0);
  CHECK(memory <= machine_memory() / 2);
  CHECK(memory <= std::int64_t{4} << 30);
}

TEST_CASE("the GPU answers when its engine is there, and the CPU until then",
          "[engine][extractor][openvino][child]") {
  const test::TempDirectory folder;
  const EngineRequest small = test::small_request(folder);  // features: a tenth of the picture
  StoredModel model;
  model.onnx = small.model;
  model.card = card();
  model.card.sha256 = std::string(64, 'a');
  model.card.output = small.output;
  model.card.features = 3;
  test::FakeEngineLibrary library;
  library.features = 3;
  library.value = 10.01f;  // the CPU: 10
  const std::vector<Image> picture{{4, 4, std::vector<std::uint8_t>(48, 100)}};
  const auto asked = [&](FeatureExtractor& extractor) {
    std::vector<float> features(3);
    REQUIRE(extractor.extract(picture, {features.data(), 1, 3, 3}).ok());
    return features[0];
  };
  FeatureExtractor::Options options{.threads = 1,
                                    .batch = 1,
                                    .engines = EngineUse::kept,
                                    .home = folder / "home",
                                    .library = &library};

  auto before = FeatureExtractor::open(model, options);
  REQUIRE(before.ok());
  CHECK(asked(*before) == Approx(10));
  CHECK(says(before->note(), "engram model engine net. The CPU answers."));
  CHECK(before->engine().kind == EngineState::Kind::given_up);
  CHECK(before->engine().device == "Fake GPU, compute 8.7, Fake 1.0");

  options.engines = EngineUse::build;
  auto meanwhile = FeatureExtractor::open(model, options);
  REQUIRE(meanwhile.ok());
  float answer = asked(*meanwhile);
  for (int look = 0; look < 1000 && answer != 10.01f; ++look) {
    CHECK(answer == Approx(10));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    answer = asked(*meanwhile);
  }
  CHECK(answer == 10.01f);
  CHECK(meanwhile->engine().kind == EngineState::Kind::answers);

  options.engines = EngineUse::kept;
  auto after = FeatureExtractor::open(model, options);
  REQUIRE(after.ok());
  CHECK(asked(*after) == 10.01f);  // from the first picture on
  CHECK(after->note().empty());

  library.has_gpu = false;
  auto without = FeatureExtractor::open(model, options);
  REQUIRE(without.ok());
  CHECK(asked(*without) == Approx(10));
  CHECK(without->note().empty());
  CHECK(without->engine().kind == EngineState::Kind::none);
}

}  // namespace engram
