// The lambda rules against a brute-force search in double, and where they fall back.
#include "engine/lambda_rule.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "engine/dual_ridge.h"
#include "engine/gram_spectrum.h"
#include "engine/learner.h"
#include "kernels/kernels.h"
#include "tests/support/catch.h"
#include "tests/support/gauss.h"
#include "tests/support/says.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

using test::make_samples;
using test::Samples;
using Matrix = test::Table;

struct Row {
  std::vector<double> h;
  int label;
};

// Mean squared error on `held` of the ridge regression on `learned`.
double defined_loss(const std::vector<Row>& learned, const std::vector<Row>& held, int classes,
                    double lambda) {
  const std::size_t m = held[0].h.size();
  Matrix g(m, std::vector<double>(m)), c(m, std::vector<double>(std::size_t(classes)));
  for (const Row& row : learned) {
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < m; ++j) g[i][j] += row.h[i] * row.h[j];
      c[i][std::size_t(row.label)] += row.h[i];
    }
  }
  for (std::size_t i = 0; i < m; ++i) g[i][i] += lambda;
  const Matrix readout = test::solve(g, c);
  double sum = 0;
  for (const Row& row : held) {
    for (int k = 0; k < classes; ++k) {
      double score = 0;
      for (std::size_t i = 0; i < m; ++i) score += row.h[i] * readout[i][std::size_t(k)];
      sum += std::pow(score - (row.label == k ? 1.0 : 0.0), 2);
    }
  }
  return sum / (double(held.size()) * classes);
}

// Hidden units by the learner's own projection (which has its own test).
std::vector<Row> hidden(const LearnerConfig& config, const Samples& samples, int first, int count) {
  Arena arena = std::move(Arena::create(std::size_t{64} << 20)).value();
  const Projection projection(config, kCpuKernels, arena);
  const ProjectionScratch scratch = ProjectionScratch::take(config, 1, arena);
  std::vector<Row> rows;
  for (int b = first; b < first + count; ++b) {
    const MatrixView<float> h = scratch.h.row_range(0, 1);
    REQUIRE(projection.from_features(samples.features(b, 1), scratch, h).ok());
    rows.push_back({{h.row(0), h.row(0) + h.cols}, samples.classes[std::size_t(b)]});
  }
  return rows;
}

// Two tasks of 6 classes each; the losses of the second one by definition.
void compare_with_definition(LearnerConfig config, int per_class) {
  const int task = 6 * per_class, classes = 12;
  const Samples samples = make_samples(classes, per_class, config.features, 3, 1, 1.2);
  Learner learner = std::move(Learner::create(config)).value();
  REQUIRE(learner.learn(samples.features(0, task), samples.names(0, task)).ok());
  REQUIRE(learner.end_task().ok());
  REQUIRE(learner.learn(samples.features(task, task), samples.names(task, task)).ok());
  const Result<ReadoutReport> report = learner.end_task();
  REQUIRE(report.ok());
  CHECK(report->note.empty());
  CHECK(report->candidates == lambda_grid(config));

  std::vector<Row> learned, held;
  const std::vector<Row> current = hidden(config, samples, task, task);
  const std::vector<int> order = split_order(task, config.split_seed, 1);
  if (config.lambda_rule == LambdaRule::paper) learned = hidden(config, samples, 0, task);
  for (int i = 0; i < task; ++i) {
    (i < int(0.8 * task) ? learned : held).push_back(current[std::size_t(order[std::size_t(i)])]);
  }
  double best = INFINITY, chosen = 0;
  int usable = 0;
  for (std::size_t i = 0; i < report->candidates.size(); ++i) {
    if (std::isnan(report->losses[i])) continue;
    const double loss = defined_loss(learned, held, classes, report->candidates[i]);
    CAPTURE(report->candidates[i]);
    CHECK(test::close(report->losses[i], loss, 0.01));
    if (loss < best) chosen = report->candidates[i];
    best = std::min(best, loss);
    ++usable;
  }
  CHECK(usable >= 4);
  CHECK(report->lambda == chosen);
  CHECK(learner.readout()->lambda == chosen);
}

LearnerConfig with_rule(LearnerConfig config, LambdaRule rule) {
  config.lambda_rule = rule;
  return config;
}

}  // namespace

TEST_CASE("lambda: `paper` equals its definition in double", "[engine][lambda]") {
  compare_with_definition(with_rule(test::exact_config(30, 100), LambdaRule::paper), 12);
  compare_with_definition(with_rule(test::float_config(30, 100), LambdaRule::paper), 12);
  compare_with_definition(with_rule(test::float_config(30, 0), LambdaRule::paper), 12);
}

TEST_CASE("lambda: `code` on the kernel equals its definition in double", "[engine][lambda]") {
  // 42 samples a task, fewer than M / 2.
  compare_with_definition(with_rule(test::exact_config(30, 100), LambdaRule::code), 7);
  compare_with_definition(with_rule(test::float_config(30, 100), LambdaRule::code), 7);
}

TEST_CASE("lambda: `code` on G of the task equals its definition in double", "[engine][lambda]") {
  compare_with_definition(with_rule(test::exact_config(30, 100), LambdaRule::code), 20);
  compare_with_definition(with_rule(test::float_config(30, 0), LambdaRule::code), 20);
}

TEST_CASE("lambda: candidates are the paper's, in the unit of the hidden units",
          "[engine][lambda]") {
  const std::vector<double> paper = lambda_grid(test::float_config(30, 100));
  REQUIRE(paper.size() == 17);
  CHECK(paper.front() == 1e-8);
  CHECK(paper.back() == 1e8);
  LearnerConfig config = test::exact_config(30, 100);
  for (const double scale : {1e-20, 0.3, 45.254833, 1e20}) {
    for (const int gain : {1, 1024, 65536}) {
      config.feature_scale = float(scale);
      config.hidden_mul = gain;
      CAPTURE(scale, gain);
      const double unit = double(config.feature_scale) * gain / 65536;
      const std::vector<double> grid = lambda_grid(config);
      REQUIRE(grid.size() == 17);
      CHECK(grid.front() >= 1e-8);
      CHECK(grid.front() < 1e-7);
      for (std::size_t i = 0; i < 17; ++i) {
        const double decade = std::log10(grid[i] / (unit * unit));
        CHECK(std::abs(decade - std::round(decade)) < 1e-9);
        CHECK(test::close(grid[i] / grid[0], paper[i] / paper[0], 1e-12));
      }
    }
  }
}

TEST_CASE("lambda: the split is random, seeded and whole", "[engine][lambda]") {
  const std::vector<int> order = split_order(1000, 1, 0);
  CHECK(std::set<int>(order.begin(), order.end()).size() == 1000);
  CHECK(*std::max_element(order.begin(), order.end()) == 999);
  CHECK(split_order(1000, 1, 0) == order);
  CHECK(split_order(1000, 2, 0) != order);
  CHECK(split_order(1000, 1, 1) != order);
  double sum = 0;  // of the first 800: a fair draw is 799.6 * 500 +- 4 000
  for (int i = 0; i < 800; ++i) sum += order[std::size_t(i)];
  CHECK(std::abs(sum / 800 - 499.5) < 20);
}

TEST_CASE("lambda: candidates that float cannot carry never win", "[engine][lambda]") {
  const Samples samples = make_samples(4, 10, 30);
  for (const LambdaRule rule : {LambdaRule::paper, LambdaRule::code}) {
    Learner learner =
        std::move(Learner::create(with_rule(test::exact_config(30, 200), rule))).value();
    REQUIRE(learner.learn(samples.features(), samples.labels).ok());
    const Result<ReadoutReport> report = learner.end_task();
    REQUIRE(report.ok());
    CHECK(std::isnan(report->losses.front()));
    CHECK_FALSE(std::isnan(report->losses.back()));
    CHECK(report->lambda >= 1e-2);
    CHECK(report->rule == name(rule));
  }
}

TEST_CASE("lambda: a task of one sample takes the lambda before", "[engine][lambda]") {
  const Samples samples = make_samples(4, 10, 30);
  Learner learner =
      std::move(Learner::create(with_rule(test::exact_config(30, 100), LambdaRule::paper))).value();
  REQUIRE(learner.learn(samples.features(), samples.labels).ok());
  const double before = learner.end_task()->lambda;
  REQUIRE(learner.learn(samples.features(0, 1), samples.names(0, 1)).ok());
  const Result<ReadoutReport> report = learner.end_task();
  REQUIRE(report.ok());
  CHECK(report->lambda == before);
  CHECK(test::says(report->note, "the lambda of the task before"));
  CHECK(report->candidates.empty());
}

TEST_CASE("lambda: two samples can be split", "[engine][lambda]") {
  for (const LambdaRule rule : {LambdaRule::paper, LambdaRule::code}) {
    const Samples samples = make_samples(2, 1, 30);
    Learner learner =
        std::move(Learner::create(with_rule(test::exact_config(30, 100), rule))).value();
    REQUIRE(learner.learn(samples.features(), samples.labels).ok());
    const Result<ReadoutReport> report = learner.end_task();
    REQUIRE(report.ok());
    CHECK(report->losses.size() == 17);
    CHECK(report->note.empty());
  }
}

TEST_CASE("lambda: a kernel without a factor gives no loss", "[engine][lambda]") {
  // Of (1, 2), (1, 2) and (3, 4): two equal rows are singular without a ridge.
  std::vector<float> kernel{0, 0, 0, 5, 0, 0, 11, 11, 0}, diagonal{5, 5, 25};
  const std::vector<std::int32_t> classes{0, 1, 1};
  const std::vector<int> samples{0, 1, 2};
  DualRidge dual({kernel.data(), diagonal.data(), 3, 3}, classes, samples, 2, 2);
  CHECK(std::isnan(dual.loss(0.0)));
  CHECK(std::isfinite(dual.loss(1.0)));
}

TEST_CASE("lambda: the largest eigenvalue is found to a few percent", "[engine][lambda]") {
  // G = diag(9, 4, 1), its lower triangle and diagonal; the rest is rubbish.
  const float rubbish = std::nanf("");
  std::vector<float> gram{rubbish, rubbish, rubbish, 0, rubbish, rubbish, 0, 0, rubbish};
  std::vector<float> diagonal{9, 4, 1};
  const GramView g{gram.data(), diagonal.data(), 3, 3};
  CHECK(trace(g) == 14.0);
  CHECK(test::close(largest_eigenvalue(g, {3, 2, -1}), 9.0, 0.05));
  CHECK(test::close(largest_eigenvalue(g, {0, 0, 0}), 9.0, 0.05));
  diagonal = {0, 0, 0};
  CHECK(largest_eigenvalue(g, {1, 1, 1}) == 0.0);
}

}  // namespace engram
