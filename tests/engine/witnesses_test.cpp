// Samples left out of a dense readout, against readouts that are really trained without them.
#include "engine/witnesses.h"

#include "kernels/kernels.h"
#include "tests/support/catch.h"
#include "tests/support/ridge_case.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

using test::BruteForce;
using test::RidgeCase;

// A dense learner without projection: rows are hidden units.
struct Dense {
  explicit Dense(const RidgeCase& problem) : config(test::float_config(problem.units, 0)) {
    config.keep_features = false;
    arena = Arena::create(std::size_t(1) << 22).value();
    projection.emplace(config, kCpuKernels, arena);
    scratch = ProjectionScratch::take(config, 16, arena);
    statistics.emplace(config, kCpuKernels, arena);
    for (std::size_t i = 0; i < problem.h.size(); ++i) {
      for (const double value : problem.h[i]) rows.push_back(float(value));
      labels.push_back("class " + std::to_string(problem.classes[i]));
    }
    REQUIRE(statistics->prepare(labels).ok());
    REQUIRE(statistics
                ->add(bytes(), {rows.data(), problem.count(), problem.units, problem.units},
                      problem.classes)
                .ok());
  }
  const std::byte* bytes() const { return reinterpret_cast<const std::byte*>(rows.data()); }

  LearnerConfig config;
  Arena arena = Arena::empty();
  std::optional<Projection> projection;
  ProjectionScratch scratch;
  std::optional<Statistics> statistics;
  std::vector<float> rows;
  std::vector<std::string> labels;
};

}  // namespace

TEST_CASE("witnesses: what they say equals readouts trained without them", "[engine][unknown]") {
  for (const double lambda : {30.0, 3000.0}) {
    const RidgeCase problem = test::make_ridge_case(3, 10, 12, 8.0, 1);
    Dense dense(problem);
    std::string note;
    const auto readout = solve_readout(*dense.statistics, lambda, note);
    REQUIRE(readout.ok());
    Witnesses witnesses(dense.config);
    REQUIRE(witnesses.reserve().ok());
    witnesses.add(dense.bytes(), problem.classes);
    const auto heard =
        witnesses.hear(*dense.statistics, readout.value(), {}, *dense.projection, dense.scratch);
    REQUIRE(heard.ok());
    REQUIRE(heard->size() == problem.h.size());
    for (std::size_t i = 0; i < problem.h.size(); ++i) {
      std::vector<bool> learned(problem.h.size(), true);
      learned[i] = false;
      const BruteForce truth(problem, learned, lambda);
      const ScoreSummary wanted = summarise(truth.scores(problem.h[i]), problem.classes[i],
                                            float(truth.leverage(problem.h[i])));
      const ScoreSummary& said = heard.value()[i];
      CHECK(said.best == Approx(wanted.best).margin(2e-3));
      CHECK(said.own == Approx(wanted.own).margin(2e-3));
      CHECK(said.leverage == Approx(wanted.leverage).epsilon(5e-3).margin(1e-4));
      CHECK(said.group == problem.classes[i]);
    }
  }
}

TEST_CASE("witnesses: few, spread over what was learned, none of a class of one",
          "[engine][unknown]") {
  const RidgeCase problem = test::make_ridge_case(4, 100, 12, 8.0, 2);
  Dense dense(problem);
  Witnesses witnesses(dense.config);
  REQUIRE(witnesses.reserve().ok());
  for (int i = 0; i < problem.count(); ++i) {
    witnesses.add(dense.bytes() + std::size_t(i) * 12 * sizeof(float),
                  std::span(problem.classes).subspan(std::size_t(i), 1));
    CHECK(witnesses.size() <= Witnesses::kMost);
  }
  std::string note;
  const auto readout = solve_readout(*dense.statistics, 100.0, note);
  REQUIRE(readout.ok());
  const auto heard =
      witnesses.hear(*dense.statistics, readout.value(), {}, *dense.projection, dense.scratch);
  REQUIRE(heard.ok());
  std::vector<int> of_class(4);
  for (const ScoreSummary& one : heard.value()) ++of_class[std::size_t(one.group)];
  for (const int count : of_class) CHECK(count >= Witnesses::kMost / 8);
  witnesses.clear();
  CHECK(witnesses.size() == 0);

  const RidgeCase alone = test::make_ridge_case(3, 1, 12, 8.0, 3);
  Dense single(alone);
  const auto solved = solve_readout(*single.statistics, 100.0, note);
  REQUIRE(solved.ok());
  witnesses.add(single.bytes(), alone.classes);
  CHECK(witnesses.hear(*single.statistics, solved.value(), {}, *single.projection, single.scratch)
            ->empty());
}

}  // namespace engram
