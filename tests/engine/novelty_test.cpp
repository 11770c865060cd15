// Leave-one-out and leave-class-out examples against readouts that are really trained without the
// sample or the class.
#include "engine/novelty.h"

#include <algorithm>
#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/ridge_case.h"

namespace engram {
namespace {

using test::BruteForce;
using test::make_ridge_case;
using test::RidgeCase;

Result<NoveltyExamples> examples_of(RidgeCase& problem, double lambda,
                                    int limit = kNoveltySamples) {
  ENGRAM_ASSIGN(const LeftOut left_out, LeftOut::create(problem.view(), problem.classes,
                                                        problem.class_count, lambda, limit));
  return novelty_examples(left_out);
}

bool close(const ScoreSummary& a, const ScoreSummary& b) {
  const auto near = [](float x, float y) { return std::abs(x - y) <= 1e-3F * (1 + std::abs(y)); };
  return near(a.best, b.best) && near(a.second, b.second) && near(a.own, b.own) &&
         near(a.rest_mean, b.rest_mean) && near(a.rest_variance, b.rest_variance) &&
         near(a.leverage, b.leverage) && a.known == b.known && a.classes == b.classes;
}

void check_against_training(RidgeCase problem, double lambda) {
  const auto examples = examples_of(problem, lambda);
  REQUIRE(examples.ok());
  const auto& found = examples.value();
  std::vector<int> sizes(std::size_t(problem.class_count));
  for (const int label : problem.classes) ++sizes[std::size_t(label)];

  std::size_t next_known = 0;
  std::vector<ScoreSummary> unknown;
  for (int i = 0; i < problem.count(); ++i) {
    const int own = problem.classes[std::size_t(i)];
    std::vector<bool> learned(problem.h.size(), true);
    learned[std::size_t(i)] = false;
    const BruteForce without_sample(problem, learned, lambda);
    const std::vector<double>& h = problem.h[std::size_t(i)];
    if (sizes[std::size_t(own)] > 1) {
      REQUIRE(next_known < found.known.size());
      CHECK(close(found.known[next_known++],
                  summarise(without_sample.scores(h), own, float(without_sample.leverage(h)))));
    }
    for (std::size_t j = 0; j < learned.size(); ++j) learned[j] = problem.classes[j] != own;
    const BruteForce without_class(problem, learned, lambda);
    unknown.push_back(
        summarise(without_class.scores(h), -1, float(without_class.leverage(h)), own));
  }
  CHECK(next_known == found.known.size());
  // Unknown examples come class by class.
  std::size_t next_unknown = 0;
  for (int k = 0; k < problem.class_count && problem.class_count >= 3; ++k) {
    for (std::size_t i = 0; i < problem.h.size(); ++i) {
      if (problem.classes[i] != k) continue;
      REQUIRE(next_unknown < found.unknown.size());
      CHECK(close(found.unknown[next_unknown++], unknown[i]));
    }
  }
  CHECK(next_unknown == found.unknown.size());
}

}  // namespace

TEST_CASE("novelty: examples equal readouts trained without the sample or its class",
          "[engine][unknown]") {
  for (const double lambda : {3.0, 300.0, 30000.0}) {
    check_against_training(make_ridge_case(4, 5, 12, 8.0, 1), lambda);   // more samples than units
    check_against_training(make_ridge_case(3, 3, 24, 12.0, 2), lambda);  // fewer
  }
}

TEST_CASE("novelty: uneven classes, one sample, duplicates", "[engine][unknown]") {
  RidgeCase problem = make_ridge_case(4, 3, 16, 9.0, 3);
  problem.add(problem.h[0], 0);             // the same sample again
  problem.add(problem.h[1], 1);             // and another
  problem.add(std::vector<double>(16), 2);  // all hidden units 0
  problem.add(problem.h[5], 4);             // a class of one sample, equal to one of class 1
  problem.make_kernel();
  check_against_training(problem, 50.0);
}

TEST_CASE("novelty: few classes or samples give no example of a kind", "[engine][unknown]") {
  RidgeCase one_class = make_ridge_case(1, 4, 8, 5.0, 4);
  const auto single = examples_of(one_class, 10.0);
  CHECK(single->known.size() == 4);
  CHECK(single->unknown.empty());

  RidgeCase two = make_ridge_case(2, 3, 8, 5.0, 5);
  CHECK(examples_of(two, 10.0)->unknown.empty());

  RidgeCase once = make_ridge_case(5, 1, 8, 5.0, 6);
  const auto each_once = examples_of(once, 10.0);
  CHECK(each_once->known.empty());
  CHECK(each_once->unknown.size() == 5);

  RidgeCase nothing;
  const auto none = examples_of(nothing, 1.0);
  CHECK(none->known.empty());
}

TEST_CASE("novelty: beyond the limit every class keeps its share", "[engine][unknown]") {
  std::vector<std::int32_t> classes;
  for (int i = 0; i < 3; ++i) classes.push_back(2);
  for (int i = 0; i < 90; ++i) classes.push_back(i % 2);
  const std::vector<int> rows = stratified_rows(classes, 3, 23);
  CHECK(rows.size() == 23);
  CHECK(std::is_sorted(rows.begin(), rows.end()));
  CHECK(std::adjacent_find(rows.begin(), rows.end()) == rows.end());
  std::vector<int> taken(3);
  for (const int row : rows) ++taken[std::size_t(classes[std::size_t(row)])];
  CHECK(taken == std::vector<int>{10, 10, 3});
  CHECK(stratified_rows(classes, 3, 1000).size() == classes.size());

  RidgeCase problem = make_ridge_case(3, 20, 10, 8.0, 7);
  const auto limited = examples_of(problem, 60.0, 12);
  CHECK(limited->known.size() == 12);
  CHECK(limited->unknown.size() == 12);
}

TEST_CASE("novelty: the area under the ROC curve by counting pairs", "[engine][unknown]") {
  const std::vector<float> high{0.9F, 0.5F, 0.5F, 0.1F}, low{0.5F, 0.2F, -1.0F};
  CHECK(area_under_roc(high, low) == Approx((3 + 2.5 + 2.5 + 1) / 12.0));
  CHECK(area_under_roc({}, low) == 0.5);
  CHECK(area_under_roc(high, {}) == 0.5);
}

}  // namespace engram
