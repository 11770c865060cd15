// The learner against its definition in double. What it refuses: learner_input_test.cpp.
#include "engine/learner.h"

#include <cmath>
#include <vector>

#include "engine/lambda_range.h"
#include "engine/projection.h"
#include "engine/scorer.h"
#include "kernels/kernels.h"
#include "tests/support/catch.h"
#include "tests/support/learner_views.h"
#include "tests/support/says.h"
#include "tests/support/synthetic.h"
#include "tests/support/worst.h"

namespace engram {
namespace {

using test::accuracy;
using test::exact_config;
using test::float_config;
using test::make_samples;
using test::Samples;
using test::says;

// One hidden unit of one row, as the headers of the kernels define it, in double.
double defined_unit(const LearnerConfig& config, const float* f, int m) {
  if (config.hidden == 0) return f[m];
  double p = 0;
  const bool exact = config.arithmetic == Arithmetic::exact;
  for (int l = 0; l < config.features; ++l) {
    const double sign = sign_word(config.seed, l / 32, m) >> (l % 32) & 1u ? 1.0 : -1.0;
    const double weight =
        config.weights == Weights::gaussian ? gaussian_weight(config.seed, l, m) : sign;
    const double q = std::nearbyint(f[l] * config.feature_scale);
    p += weight * (exact ? std::min(127.0, std::max(-127.0, q)) : f[l]);
  }
  if (config.nonlinearity == Nonlinearity::square) return p * p;
  if (config.nonlinearity == Nonlinearity::relu) p = std::max(p, 0.0);
  if (!exact) return p;
  return std::min(double(config.hidden_max), std::floor(p * config.hidden_mul / 65536.0));
}

std::vector<std::vector<double>> defined_hidden(const LearnerConfig& config,
                                                const Samples& samples) {
  std::vector<std::vector<double>> h;
  for (int b = 0; b < samples.count(); ++b) {
    h.emplace_back();
    for (int m = 0; m < config.hidden_units(); ++m) {
      h.back().push_back(defined_unit(config, samples.features().row(b), m));
    }
  }
  return h;
}

LearnerConfig config_number(int number) {
  LearnerConfig config = number == 0   ? exact_config(37, 101)
                         : number == 1 ? float_config(37, 101)
                         : number == 2 ? float_config(37, 101, Weights::bipolar)
                                       : float_config(37, 0);
  if (number == 2) config.nonlinearity = Nonlinearity::square;
  return config;
}

}  // namespace

TEST_CASE("learner: G, C and the readout equal their definitions in double", "[engine][learner]") {
  const int number = GENERATE(0, 1, 2, 3);
  LearnerConfig config = config_number(number);
  config.lambda_rule = LambdaRule::fixed;
  config.lambda = number == 2 ? 1e6 : 100;
  config.readout = ReadoutKind::ridge;
  CAPTURE(number);
  const Samples samples = make_samples(5, 9, 37);
  const auto h = defined_hidden(config, samples);
  const int units = config.hidden_units();
  Learner learner = Learner::create(config).value();
  REQUIRE(learner.learn(samples.features(), samples.labels).ok());

  const double tolerance = config.arithmetic == Arithmetic::exact ? 0.0 : 1e-5;
  const std::vector<double> zeros(static_cast<std::size_t>(units));
  std::vector<std::vector<double>> a(zeros.size(), zeros);
  test::Worst worst;
  double largest = 0;
  for (int r = 0; r < units; ++r) {
    for (int c = 0; c < units; ++c) {
      for (const auto& row : h) a[r][c] += row[r] * row[c];
      worst.see(std::abs(a[r][c] - learner.gram(r, c)));
      largest = std::max(largest, std::abs(a[r][c]));
    }
    a[r][r] += config.lambda;
  }
  CHECK(worst.value() <= tolerance * largest);
  CHECK(largest > 0);

  REQUIRE(learner.end_task().ok());
  const auto readout = learner.readout();
  REQUIRE(readout->classes.size() == 5);
  CHECK(readout->classes[3] == "class 3");
  CHECK(readout->lambda == config.lambda);
  for (int k = 0; k < 5; ++k) {
    // (G + lambda I) Wo[k] must be C[k].
    test::Worst error, sum_error;
    double size = 0;
    for (int r = 0; r < units; ++r) {
      double product = 0, sum = 0;
      for (int c = 0; c < units; ++c)
        product += a[r][c] * readout->weights[std::size_t(k * units + c)];
      for (int b = 0; b < samples.count(); ++b) {
        if (samples.classes[std::size_t(b)] == k) sum += h[std::size_t(b)][std::size_t(r)];
      }
      sum_error.see(std::abs(learner.class_sum(k, r) - sum));
      error.see(std::abs(product - sum));
      size = std::max(size, std::abs(sum));
    }
    CHECK(sum_error.value() <= tolerance * size);
    CHECK(error.value() < 2e-3 * size);
  }
}

TEST_CASE("learner: learns classes one after another and keeps the first", "[engine][learner]") {
  const LearnerConfig config =
      GENERATE(exact_config(64, 400), float_config(64, 400),
               float_config(64, 400, Weights::bipolar), float_config(64, 0));
  const Samples train = make_samples(12, 10, 64), test = make_samples(12, 10, 64, 1, 2);
  Learner learner = Learner::create(config).value();
  for (int task = 0; task < 4; ++task) {
    REQUIRE(learner.learn(train.features(30 * task, 30), train.names(30 * task, 30)).ok());
    CHECK(learner.task_samples() == 30);
    REQUIRE(learner.end_task().ok());
    CHECK(learner.task_samples() == 0);
    CHECK(learner.tasks() == task + 1);
    CHECK(int(learner.classes().size()) == 3 * (task + 1));
  }
  CHECK(learner.samples() == 120);
  CHECK(learner.classes()[11] == ClassInfo{"class 11", 10});
  CHECK(accuracy(learner, test) > 0.95);
}

TEST_CASE("learner: encode then learn is learn", "[engine][learner]") {
  const LearnerConfig config = GENERATE(exact_config(50, 200), float_config(50, 200));
  const Samples samples = make_samples(4, 100, 50);
  Learner direct = Learner::create(config).value(), encoded = Learner::create(config).value();
  REQUIRE(direct.learn(samples.features(), samples.labels).ok());
  const Result<SampleBatch> batch = encoded.encode(samples.features(), samples.labels);
  REQUIRE(batch.ok());
  REQUIRE(encoded.learn(batch.value()).ok());
  CHECK(direct.digest() == encoded.digest());
  CHECK(direct.end_task()->lambda == encoded.end_task()->lambda);
}

TEST_CASE("learner: nothing learned, one sample, one class", "[engine][learner]") {
  LearnerConfig config = exact_config(20, 100);
  config.lambda_rule = GENERATE(LambdaRule::paper, LambdaRule::loo);
  const bool splits = config.lambda_rule == LambdaRule::paper;
  Learner learner = Learner::create(config).value();
  const Samples samples = make_samples(1, 6, 20);
  std::vector<Prediction> predictions(6);
  REQUIRE(learner.classify(samples.features(), predictions).ok());
  CHECK(predictions[0].class_index == -1);
  CHECK(learner.readout() == nullptr);

  const Result<ReadoutReport> empty = learner.end_task();
  REQUIRE_FALSE(empty.ok());
  CHECK(empty.status().code() == Code::invalid_argument);
  CHECK(learner.tasks() == 0);

  REQUIRE(learner.learn(samples.features(0, 1), samples.names(0, 1)).ok());
  const Result<ReadoutReport> one = learner.end_task();
  REQUIRE(one.ok());
  CHECK(says(one->note, splits ? "one sample" : "One sample"));
  CHECK(one->lambda > 0);
  REQUIRE(learner.classify(samples.features(), predictions).ok());
  CHECK(predictions[5].class_index == 0);
  CHECK(predictions[0].score > 0.4f);

  REQUIRE(learner.learn(samples.features(1, 5), samples.names(1, 5)).ok());
  CHECK(learner.end_task()->note.empty());
  const Result<ReadoutReport> again = learner.end_task();
  REQUIRE(again.ok());
  CHECK(says(again->note, "no sample") == splits);
  CHECK(learner.tasks() == 3);
}

TEST_CASE("learner: features that are all zero have a defined outcome", "[engine][learner]") {
  const LearnerConfig config = GENERATE(exact_config(20, 100), float_config(20, 0));
  Learner learner = Learner::create(config).value();
  const std::vector<float> zeros(200);
  const std::vector<std::string> labels(10, "nothing");
  REQUIRE(learner.learn({zeros.data(), 10, 20, 20}, labels).ok());
  REQUIRE(learner.end_task().ok());
  std::vector<Prediction> predictions(10);
  REQUIRE(learner.classify({zeros.data(), 10, 20, 20}, predictions).ok());
  CHECK(predictions[0].score == 0.0f);
}

TEST_CASE("learner: huge float features still get a readout, with a note", "[engine][learner]") {
  LearnerConfig config = float_config(20, 100);
  config.lambda_rule = LambdaRule::paper;
  Learner learner = Learner::create(config).value();
  Samples samples = make_samples(3, 10, 20);
  for (float& value : samples.values) value *= 1e7f;
  REQUIRE(learner.learn(samples.features(), samples.labels).ok());
  const Result<ReadoutReport> report = learner.end_task();
  REQUIRE(report.ok());
  CHECK(says(report->note, "No candidate"));
  CHECK(accuracy(learner, samples) > 0.9);
}

TEST_CASE("learner: the smallest and the largest features and lambdas have a readout",
          "[engine][learner]") {
  LearnerConfig config = float_config(20, 0);
  config.lambda_rule = GENERATE(LambdaRule::fixed, LambdaRule::paper, LambdaRule::loo);
  config.lambda = GENERATE(kSmallestLambda, kLargestLambda);
  const float size = GENERATE(1e-30f, 1.0f, 1e14f);
  Learner learner = Learner::create(config).value();
  Samples samples = make_samples(2, 5, 20);
  for (float& value : samples.values) value *= size;
  REQUIRE(learner.learn(samples.features(), samples.labels).ok());
  const Result<ReadoutReport> report = learner.end_task();
  REQUIRE(report.ok());
  CHECK(is_lambda(report->lambda));
}

TEST_CASE("learner: a scorer of its own gives the learner's scores", "[engine][learner]") {
  const LearnerConfig config = GENERATE(exact_config(30, 150), float_config(30, 150));
  Learner learner = Learner::create(config).value();
  const Samples samples = make_samples(3, 120, 30);
  REQUIRE(learner.learn(samples.features(), samples.labels).ok());
  REQUIRE(learner.end_task().ok());
  const auto readout = learner.readout();
  Result<Scorer> scorer = Scorer::create(config);
  REQUIRE(scorer.ok());
  std::vector<float> mine(360 * 3), theirs(360 * 3);
  REQUIRE(scorer->score(samples.features(), *readout, {mine.data(), 360, 3, 3}).ok());
  REQUIRE(learner.score(samples.features(), *readout, {theirs.data(), 360, 3, 3}).ok());
  CHECK(mine == theirs);

  Readout other = *readout;
  other.hidden_units = 149;
  CHECK(scorer->score(samples.features(), other, {mine.data(), 360, 3, 3}).code() ==
        Code::invalid_argument);
}

TEST_CASE("learner: a replayed lambda is used as it is", "[engine][learner]") {
  Learner learner = Learner::create(exact_config(20, 100)).value();
  const Samples samples = make_samples(2, 5, 20);
  REQUIRE(learner.learn(samples.features(), samples.labels).ok());
  const Result<ReadoutReport> report = learner.end_task(1234.5);
  REQUIRE(report.ok());
  CHECK(report->lambda == 1234.5);
  CHECK(report->rule == "replayed");
  CHECK(report->candidates.empty());
}

TEST_CASE("learner: a solve that fails for want of memory says so, and the readout before stays",
          "[engine][learner]") {
  const bool keep = GENERATE(true, false);
  LearnerConfig config = exact_config(20, 100);
  config.keep_features = keep;
  Kernels kernels = kCpuKernels;
  Learner learner = Learner::create(config, kernels).value();
  const Samples samples = make_samples(2, 5, 20);
  REQUIRE(learner.learn(samples.features(), samples.labels).ok());
  REQUIRE(learner.end_task(10.0).ok());
  const auto before = learner.readout();
  const Kernels whole = kernels;
  const auto cholesky_fails = [](Stream, float, MatrixView<const float>, GramView) {
    return Status(Code::out_of_memory, "no memory for a factor");
  };
  const auto solve_fails = [](Stream, GramView, MatrixView<float>) {
    return Status(Code::out_of_memory, "no memory for a solve");
  };
  kernels.cholesky = cholesky_fails;
  CHECK(learner.end_task(20.0).status().code() == Code::out_of_memory);
  CHECK(learner.readout_of(ReadoutKind::lda).status().code() == Code::out_of_memory);
  kernels = whole;
  kernels.cholesky_solve = solve_fails;
  const Result<ReadoutReport> failed = learner.end_task(20.0);
  CHECK(says(failed.status().what(), "no memory for a solve"));
  CHECK(learner.readout_of(ReadoutKind::lda).status().code() == Code::out_of_memory);
  CHECK(learner.readout() == before);
  kernels = whole;
  REQUIRE(learner.end_task(20.0).ok());
  CHECK(learner.readout()->lambda == 20.0);
}

}  // namespace engram
