// Leverage from random directions against the definition, in both forms.
#include "engine/leverage.h"

#include <cmath>

#include "engine/readout.h"
#include "engine/statistics.h"
#include "kernels/kernels.h"
#include "tests/support/catch.h"
#include "tests/support/ridge_case.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

using test::BruteForce;
using test::RidgeCase;

// The case's rows as hidden units of a learner without projection.
struct Learned {
  Learned(const RidgeCase& problem, bool keep) : config(test::float_config(problem.units, 0)) {
    config.keep_features = keep;
    arena = Arena::create(std::size_t(1) << 22).value();
    statistics.emplace(config, kCpuKernels, arena);
    std::vector<float> values;
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < problem.h.size(); ++i) {
      for (const double value : problem.h[i]) values.push_back(float(value));
      labels.push_back("class " + std::to_string(problem.classes[i]));
    }
    REQUIRE(statistics->prepare(labels).ok());
    const MatrixView<const float> h{values.data(), problem.count(), problem.units, problem.units};
    REQUIRE(statistics->add(reinterpret_cast<const std::byte*>(values.data()), h, problem.classes)
                .ok());
  }

  LearnerConfig config;
  Arena arena = Arena::empty();
  std::optional<Statistics> statistics;
};

void check_probes(const RidgeCase& problem, bool keep, double lambda) {
  Learned learned(problem, keep);
  Statistics& statistics = *learned.statistics;
  REQUIRE(statistics.form() == (keep ? Form::factored : Form::dense));
  std::string note;
  REQUIRE(solve_readout(statistics, lambda, note).ok());  // leaves the factor
  constexpr int kMany = 4000;
  const auto probes = draw_probes(statistics, lambda, kMany);
  REQUIRE(probes.ok());
  REQUIRE(probes.value().scales.size() == kMany);

  const BruteForce truth(problem, std::vector<bool>(problem.h.size(), true), lambda);
  const RidgeCase unseen = test::make_ridge_case(3, 3, problem.units, 15.0, 77);
  std::vector<float> products(2 * kMany);
  for (const RidgeCase* one : {&problem, &unseen}) {
    for (std::size_t i = 0; i + 1 < one->h.size(); i += 2) {
      std::vector<float> h;
      for (const std::size_t row : {i, i + 1})
        h.insert(h.end(), one->h[row].begin(), one->h[row].end());
      std::vector<float> leverages(2);
      REQUIRE(leverages_of(kCpuKernels, probes.value(), {h.data(), 2, problem.units, problem.units},
                           products.data(), leverages)
                  .ok());
      for (const std::size_t row : {i, i + 1}) {
        CHECK(leverages[row - i] == Approx(truth.leverage(one->h[row])).epsilon(0.12));
      }
    }
  }
}

}  // namespace

TEST_CASE("leverage: the mean square of the probes, in both forms", "[engine][unknown]") {
  for (const double lambda : {5.0, 500.0}) {
    for (const bool keep : {true, false}) {
      check_probes(test::make_ridge_case(3, 8, 10, 8.0, 1), keep, lambda);  // N > M
      check_probes(test::make_ridge_case(2, 3, 20, 8.0, 2), keep, lambda);  // N < M
    }
  }
}

}  // namespace engram
