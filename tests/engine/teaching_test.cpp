// What is said about teaching, against readouts that are really trained without a sample.
#include "engine/teaching.h"

#include <algorithm>
#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/ridge_case.h"

namespace engram {
namespace {

using test::BruteForce;
using test::make_ridge_case;
using test::RidgeCase;

TeachingReport judge(RidgeCase& problem, double lambda, int limit = kTeachingSamples) {
  std::vector<std::int64_t> samples(std::size_t(problem.class_count));
  for (const int label : problem.classes) ++samples[std::size_t(label)];
  const auto left_out =
      LeftOut::create(problem.view(), problem.classes, problem.class_count, lambda, limit);
  REQUIRE(left_out.ok());
  return judge_teaching(left_out.value(), samples);
}

// Classes 0 and 1 share a centre in all but a few units, class 2 is apart.
RidgeCase two_alike(int per_class, unsigned seed) {
  RidgeCase problem = make_ridge_case(3, per_class, 30, 10.0, seed);
  const std::vector<double> difference = problem.h[0];
  for (int i = 0; i < problem.count(); ++i) {
    if (problem.classes[std::size_t(i)] != 1) continue;
    const RidgeCase noise = make_ridge_case(1, 1, 30, 10.0, seed + 100 + unsigned(i));
    for (std::size_t m = 0; m < 28; ++m) {
      problem.h[std::size_t(i)][m] =
          std::floor(std::min(31.0, difference[m] + 0.4 * noise.h[0][m]));
    }
  }
  problem.make_kernel();
  return problem;
}

}  // namespace

TEST_CASE("teaching: accuracy and pairs as counted by training again", "[engine][teaching]") {
  RidgeCase problem = two_alike(8, 1);
  const double lambda = 100.0;
  std::vector<std::vector<int>> confusion(3, std::vector<int>(3));
  for (std::size_t i = 0; i < problem.h.size(); ++i) {
    std::vector<bool> learned(problem.h.size(), true);
    learned[i] = false;
    const auto scores = BruteForce(problem, learned, lambda).scores(problem.h[i]);
    const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
    ++confusion[std::size_t(problem.classes[i])][std::size_t(best)];
  }
  const TeachingReport report = judge(problem, lambda);
  int wrong = 0;
  for (int c = 0; c < 3; ++c) {
    CHECK(report.classes[std::size_t(c)].right == confusion[std::size_t(c)][std::size_t(c)]);
    CHECK(report.classes[std::size_t(c)].judged == 8);
    CHECK_FALSE(report.classes[std::size_t(c)].too_few);
    wrong += 8 - confusion[std::size_t(c)][std::size_t(c)];
  }
  REQUIRE(wrong > 0);
  int counted = 0;
  for (const ConfusablePair& pair : report.confusable) {
    CHECK(pair.count == confusion[std::size_t(pair.shown)][std::size_t(pair.taken_for)]);
    CHECK(pair.more >= 1);
    CHECK(pair.more <= 8);
    counted += pair.count;
  }
  CHECK(counted == wrong);
  CHECK(report.right + wrong == report.judged);
  CHECK(std::is_sorted(report.confusable.begin(), report.confusable.end(),
                       [](const auto& a, const auto& b) { return a.count > b.count; }));
}

TEST_CASE("teaching: how many more follows the growth of the margin", "[engine][teaching]") {
  CHECK(samples_to_show(10, 0.5, 0.3, 0.2) == 1);  // five in six are right already
  // Doubling (n - 1 against n / 2, nearly one doubling) gained 0.2, 0.1 is missing: about 5 more.
  const int more = samples_to_show(10, 0.2, 0.3, 0.0);
  CHECK(more >= 3);
  CHECK(more <= 6);
  CHECK(samples_to_show(10, 0.1, 0.3, -0.1) >= more);  // the more is missing, the more to show
  CHECK(samples_to_show(10, 0.2, 0.3, 0.1) >= more);   // the slower it grows, too
  CHECK(samples_to_show(10, 0.1, 0.5, 0.1) == 10);     // no growth: a doubling, not infinity
  CHECK(samples_to_show(10, -5.0, 0.5, -9.0) <= 10);
  CHECK(samples_to_show(2, 0.1, 0.5, 0.1) == 2);
  CHECK(samples_to_show(1, 0.0, 0.5, 0.0) == 1);
}

TEST_CASE("teaching: showing as many as suggested helps", "[engine][teaching]") {
  // Over several draws, the confused class has a larger share of right answers afterwards.
  double before = 0, after = 0;
  int cases = 0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    RidgeCase problem = two_alike(6, 10 * seed);
    const TeachingReport report = judge(problem, 100.0);
    if (report.confusable.empty()) continue;
    const ConfusablePair pair = report.confusable.front();
    // More of both of the pair, as their hints say, from the same source.
    RidgeCase more = two_alike(18, 10 * seed);
    RidgeCase taught = problem;
    int left = pair.more;
    for (std::size_t i = problem.h.size(); i < more.h.size() && left > 0; ++i) {
      if (more.classes[i] != pair.shown) continue;
      taught.add(more.h[i], pair.shown);
      --left;
    }
    REQUIRE(left == 0);
    taught.make_kernel();
    const TeachingReport next = judge(taught, 100.0);
    before += report.classes[std::size_t(pair.shown)].accuracy();
    after += next.classes[std::size_t(pair.shown)].accuracy();
    ++cases;
  }
  REQUIRE(cases >= 5);
  INFO("before " << before / cases << ", after " << after / cases << " in " << cases << " cases");
  CHECK(after > before);
}

TEST_CASE("teaching: one class, one sample, none", "[engine][teaching]") {
  RidgeCase one = make_ridge_case(1, 4, 8, 5.0, 4);
  const TeachingReport single = judge(one, 10.0);
  CHECK(single.classes[0].accuracy() == 1.0);
  CHECK(single.confusable.empty());

  RidgeCase once = make_ridge_case(4, 1, 8, 5.0, 5);
  const TeachingReport each_once = judge(once, 10.0);
  CHECK(each_once.judged == 0);
  for (const ClassTeaching& taught : each_once.classes) {
    CHECK(taught.too_few);
    CHECK(taught.accuracy() == 0.0);
  }
  RidgeCase nothing;
  CHECK(judge(nothing, 1.0).classes.empty());
  CHECK(find_duplicates(nothing.view()).empty());
}

TEST_CASE("teaching: near-duplicates by rows", "[engine][teaching]") {
  RidgeCase problem = make_ridge_case(3, 3, 40, 30.0, 6);
  const int first = problem.count();
  problem.add(problem.h[2], 2);             // equal to row 2
  problem.add(std::vector<double>(40), 0);  // resembles nothing
  std::vector<double> nearly = problem.h[4];
  for (std::size_t m = 0; m < 40; m += 8) nearly[m] = std::min(31.0, nearly[m] + 1);
  problem.add(nearly, 1);
  problem.make_kernel();
  const auto pairs = find_duplicates(problem.view(), 0.99F);
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[0].first == 2);
  CHECK(pairs[0].second == first);
  CHECK(pairs[0].similarity == Approx(1.0F));
  CHECK(pairs[1].first == 4);
  CHECK(pairs[1].second == first + 2);
  CHECK(find_duplicates(problem.view(), 0.99F, 1).size() == 1);

  for (int i = 0; i < 60; ++i) problem.add(problem.h[2], 2);  // of 1 800 pairs few are held
  problem.make_kernel();
  const auto all = find_duplicates(problem.view(), 0.99F, 10'000);
  const auto few = find_duplicates(problem.view(), 0.99F, 5);
  REQUIRE(all.size() > 1800);
  REQUIRE(few.size() == 5);
  CHECK(few.capacity() < 1000);
  for (std::size_t i = 0; i < few.size(); ++i) {
    CHECK(few[i].first == all[i].first);
    CHECK(few[i].second == all[i].second);
  }
}

}  // namespace engram
