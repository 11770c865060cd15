#include "tools/half_trial.h"

#include <limits>

#include "engine/recogniser.h"
#include "platform/file.h"
#include "platform/hash.h"
#include "tests/support/archive_files.h"
#include "tests/support/catch.h"
#include "tests/support/picture_files.h"
#include "tests/support/says.h"
#include "tests/support/synthetic.h"
#include "tests/support/temp_directory.h"
#include "tools/convert/onnx_writer.h"

using namespace engram;
using namespace engram::test;

namespace {

FeatureSet as_set(const Samples& samples, int classes) {
  FeatureSet set;
  set.x = samples.values;
  set.width = samples.width;
  set.y = samples.classes;
  for (int k = 0; k < classes; ++k) set.classes.push_back("class " + std::to_string(k));
  return set;
}

}  // namespace

TEST_CASE("labels in float and in half are counted", "[tools][half_trial]") {
  const Samples train = make_samples(4, 10, 16);
  LearnerConfig config;
  config.backbone = std::string(64, 'a');
  config.features = 16;
  config.hidden = 200;
  config.feature_scale = 16;
  config.hidden_mul = 2000;
  auto learner = Learner::create(config);
  REQUIRE(learner.ok());
  REQUIRE(learner->learn(train.features(), train.labels).ok());
  REQUIRE(learner->end_task().ok());

  const FeatureSet full = as_set(make_samples(4, 5, 16, 1, 2), 4);
  HalfTrial same;
  REQUIRE(compare_labels(*learner, full, full, same).ok());
  CHECK(same.pictures == 20);
  CHECK(same.same == 20);
  CHECK(same.agreement() == 1);
  CHECK(same.values == 320);
  CHECK(same.other_bytes == 0);
  CHECK(same.right_float == same.right_half);
  CHECK(same.right_float >= 15);

  FeatureSet moved = full;  // the first picture looks like the last class now
  std::copy(full.x.end() - 16, full.x.end(), moved.x.begin());
  HalfTrial other;
  REQUIRE(compare_labels(*learner, full, moved, other).ok());
  CHECK(other.same == 19);
  CHECK(other.other_bytes > 0);
  CHECK(other.other_bytes <= 16);
  CHECK(other.largest_step > 1);

  moved.x[5] = std::numeric_limits<float>::infinity();
  HalfTrial refused;
  CHECK(says(compare_labels(*learner, full, moved, refused), "beyond 65504"));
}

TEST_CASE("a model is tried in half on pictures", "[tools][half_trial][openvino]") {
  const TempDirectory folder;
  OnnxWriter net("encoder");
  const float gain[] = {0.7f};
  net.input("image", {OnnxWriter::kBatch, 3, 8, 8});
  net.weights("gain", {}, gain);
  net.node("Mul", {"image", "gain"}, {"brighter"});
  net.node("AveragePool", {"brighter"}, {"map"},
           {{"kernel_shape", std::vector<std::int64_t>{4, 4}},
            {"strides", std::vector<std::int64_t>{4, 4}}});
  net.node("Flatten", {"map"}, {"features"});
  net.output("features", {OnnxWriter::kBatch, 12});
  const std::string file = net.finish();
  StoredModel model;
  model.onnx = folder / "model.onnx";
  REQUIRE(replace_file(model.onnx, bytes_of(file)).ok());
  model.card.name = "encoder";
  model.card.sha256 = sha256_hex(bytes_of(file));
  model.card.preprocess.resize = 8;
  model.card.preprocess.crop = 8;
  model.card.output = "features";
  model.card.features = 12;
  model.card.feature_scale = 32;
  model.card.hidden_mul = 1000;

  for (const char* part : {"train", "test"}) {
    for (int k = 0; k < 2; ++k) {
      const std::string label = folder / (std::string(part) + "/class" + std::to_string(k));
      REQUIRE(make_directories(label).ok());
      for (int i = 0; i < 4; ++i) {  // wide or tall: the crop shows another part of the gradient
        const Image picture = k == 0 ? gradient_picture(40 + i, 20) : gradient_picture(20, 40 + i);
        REQUIRE(write_png(label + "/" + std::to_string(i) + ".png", picture).ok());
      }
    }
  }
  Console console;
  console.configure(false, true);
  const auto trial =
      try_half(model, {.train = folder / "train", .test = folder / "test", .threads = 1}, console);
  INFO(trial.status().what());
  REQUIRE(trial.ok());
  CHECK(trial.value().half_operations == 2);
  CHECK(trial.value().pictures == 8);
  CHECK(trial.value().same == 8);
  CHECK(trial.value().values == 96);
}
