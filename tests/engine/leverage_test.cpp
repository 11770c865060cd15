// Leverage from random directions against the definition, in both forms.
#include "engine/leverage.h"

#include <cmath>

#include "engine/readout.h"
#include "engine/statistics.h"
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
  std::vector<float> values(std::size_t(kMany) * std::size_t(problem.units));
  const MatrixView<float> probes{values.data(), kMany, problem.units, problem.units};
  const Status drawn = keep ? factored_probes(kCpuKernels, statistics.factored(), lambda, probes)
                            : dense_probes(kCpuKernels, statistics.dense().gram(), probes);
  REQUIRE(drawn.ok());

  const BruteForce truth(problem, std::vector<bool>(problem.h.size(), true), lambda);
  const RidgeCase unseen = test::make_ridge_case(3, 3, problem.units, 15.0, 77);
  for (const RidgeCase* one : {&problem, &unseen}) {
    for (const std::vector<double>& h : one->h) {
      std::vector<float> products;
      for (int r = 0; r < kMany; ++r) {
        double sum = 0;
        for (std::size_t m = 0; m < h.size(); ++m) sum += probes(r, int(m)) * h[m];
        products.push_back(float(sum));
      }
      CHECK(leverage_from(products) == Approx(truth.leverage(h)).epsilon(0.12));
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
  CHECK(leverage_from({}) == 0.0F);
}

}  // namespace engram
