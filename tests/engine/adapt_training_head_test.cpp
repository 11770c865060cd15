// Where the head of Phase 1 begins.
#include <cmath>
#include <numeric>

#include "engine/adapt_training.h"
#include "kernels/kernels.h"
#include "tests/support/catch.h"
#include "tests/support/small_task.h"

namespace engram {
namespace {

constexpr int kClasses = 3, kPictures = 24, kHeldOut = 4;
constexpr std::int64_t kMuch = 1 << 30;

struct Case {
  VitModel model = test::small_vit(test::VitKind::layer_scale);
  AdaptData data = test::small_task(model.shape, kClasses, kPictures, kHeldOut);
  AdaptSettings settings = [] {
    AdaptSettings s = test::small_settings(AdaptMethod::ssf);
    s.epochs = 2;
    s.batch = 7;
    s.micro_batch = 5;
    s.head_start = HeadStart::means;
    return s;
  }();

  AdaptTraining begin() const {
    return AdaptTraining::create(model, settings, data, kMuch, kCpuKernels).value();
  }
};

using Row = std::vector<double>;

double dot(const Row& a, const Row& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
Row scaled(Row row, double factor) {
  for (double& value : row) value *= factor;
  return row;
}
void add(Row& to, const Row& row, double factor = 1) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * row[i];
}
Row unit(const Row& row) {
  return scaled(row, 1 / std::sqrt(dot(row, row)));
}

// By the definition: unit features of the pictures that are trained on, averaged.
std::vector<Row> class_vectors(const Case& one) {
  AdaptTraining training = one.begin();
  const int width = one.model.shape.features,
            size = 3 * one.model.shape.image * one.model.shape.image;
  std::vector<Row> means(kClasses, Row(static_cast<std::size_t>(width)));
  for (int sample = 0; sample < kPictures; ++sample) {
    const auto& out = one.data.held_out;
    if (std::find(out.begin(), out.end(), sample) != out.end()) continue;
    std::vector<float> picture(static_cast<std::size_t>(size));
    std::vector<float> features(static_cast<std::size_t>(width));
    REQUIRE(one.data.pictures({&sample, 1}, -1, {picture.data(), 1, size, size}).ok());
    REQUIRE(training.features({picture.data(), 1, size, size}, {features.data(), 1, width, width})
                .ok());
    add(means[std::size_t(one.data.labels[std::size_t(sample)])],
        unit(Row(features.begin(), features.end())));
  }
  Row common(static_cast<std::size_t>(width));
  for (Row& mean : means) add(common, mean = unit(mean), 1.0 / kClasses);
  for (Row& mean : means) add(mean, common, -1);
  return means;
}

}  // namespace

TEST_CASE("adapt head: it begins at the means of the classes", "[engine][adapt]") {
  Case one;
  one.settings.learning_rate = 0;  // what it began with stays
  AdaptTraining training = one.begin();
  REQUIRE(training.epoch().ok());
  const std::vector<Row> expected = class_vectors(one);
  const auto weight = training.parameters().slice("head.weight");
  for (int k = 0; k < kClasses; ++k) {
    const Row row(weight.row(k), weight.row(k) + weight.cols);
    CHECK(dot(row, row) == Approx(1.0 / 3).epsilon(1e-5));
    CHECK(dot(unit(row), unit(expected[std::size_t(k)])) == Approx(1.0).epsilon(1e-5));
  }
  CHECK(*training.parameters().slice("head.sigma").data == float(one.settings.head_scale));
}

TEST_CASE("adapt head: the means tell pictures apart that chance does not", "[engine][adapt]") {
  Case one;
  one.data = test::small_task(one.model.shape, kClasses, 120, 60);
  one.settings.learning_rate = 0;
  AdaptTraining means = one.begin();
  one.settings.head_start = HeadStart::random;
  AdaptTraining chance = one.begin();
  REQUIRE((means.epoch().ok() && chance.epoch().ok()));
  CHECK(means.curves().front().held_out_accuracy > chance.curves().front().held_out_accuracy + 10);
}

TEST_CASE("adapt head: saved before the first step, it begins the same way again",
          "[engine][adapt]") {
  const Case one;
  AdaptTraining whole = one.begin(), resumed = one.begin();
  std::string bytes;
  whole.save(bytes);
  REQUIRE(resumed.restore(bytes).ok());
  REQUIRE((whole.epoch().ok() && resumed.epoch().ok()));
  CHECK(whole.parameters().values == resumed.parameters().values);
}

TEST_CASE("adapt head: a class that is held out altogether keeps its random vector",
          "[engine][adapt]") {
  Case one;
  one.settings.learning_rate = 0;
  one.data.held_out.clear();
  for (int i = 0; i < kPictures; ++i) {
    if (one.data.labels[std::size_t(i)] == 1) one.data.held_out.push_back(i);
  }
  AdaptTraining training = one.begin();
  const AdaptParameters start = training.parameters();
  REQUIRE(training.epoch().ok());
  const auto before = start.slice("head.weight"),
             after = training.parameters().slice("head.weight");
  CHECK(std::equal(before.row(1), before.row(1) + before.cols, after.row(1)));
  CHECK_FALSE(std::equal(before.row(0), before.row(0) + before.cols, after.row(0)));
}

TEST_CASE("adapt head: names", "[engine][adapt]") {
  CHECK(parse_head_start("means").value() == HeadStart::means);
  CHECK(parse_head_start(name(HeadStart::random)).value() == HeadStart::random);
  CHECK(parse_head_start("feet").status().code() == Code::invalid_argument);
}

}  // namespace engram
