#include "engine/readout_kinds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/memory_plan.h"
#include "engine/statistics.h"
#include "kernels/kernels.h"
#include "kernels/matrix_product_cpu.h"
#include "platform/arena.h"
#include "platform/blas.h"
#include "platform/device_memory.h"
#include "platform/finite.h"

namespace engram {
namespace {

double product_in_double(const float* a, const float* b, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += double(a[i]) * b[i];
  return sum;
}

// The means, and what A^-1 makes of them.
struct WithinClass {
  std::vector<float> means;   // (K, M)
  std::vector<float> solved;  // (K, M): A^-1 mu_c
  double ridge = 0;
  std::string note;
};

class WithinClassProblem {
 public:
  explicit WithinClassProblem(const ClassStatistics& statistics)
      : s_(statistics), classes_(statistics.sums.rows), units_(statistics.gram.size) {
    ENGRAM_CHECK(s_.sums.cols == units_ && s_.counts.size() == std::size_t(classes_));
    samples_ = std::accumulate(s_.counts.begin(), s_.counts.end(), std::int64_t{0});
  }
  std::int64_t samples() const { return samples_; }
  // Classes that have samples.
  std::int64_t classes() const {
    return std::count_if(s_.counts.begin(), s_.counts.end(), [](std::int64_t n) { return n > 0; });
  }
  double trace_of_gram() const {
    return std::accumulate(s_.gram.diagonal, s_.gram.diagonal + units_, 0.0);
  }
  double trace_of_scatter() const {
    double trace = trace_of_gram();
    for (int k = 0; k < classes_; ++k) {
      if (count(k) > 0)
        trace -= product_in_double(s_.sums.row(k), s_.sums.row(k), units_) / count(k);
    }
    return std::max(trace, 0.0);
  }

  Result<WithinClass> solve(double ridge) const {
    WithinClass result;
    result.means = scaled_sums(1.0);
    // G without n_c mu_c mu_cT: these rows are left out of the factor.
    const std::vector<float> rows = scaled_sums(0.5);
    const MatrixView<const float> left_out{rows.data(), classes_, units_, units_};
    const double last = std::max(ridge, 10.0 * trace_of_gram());
    for (result.ridge = ridge; result.ridge <= last; result.ridge *= 10.0) {
      if (!(float(result.ridge) > 0)) continue;
      const Status factored = s_.kernels.cholesky(Stream{}, float(result.ridge), left_out, s_.gram);
      if (factored.code() == Code::bad_data) continue;
      ENGRAM_TRY(factored);  // not about the ridge: memory, a device
      result.solved = result.means;
      const MatrixView<float> x{result.solved.data(), classes_, units_, units_};
      ENGRAM_TRY(s_.kernels.cholesky_solve(Stream{}, s_.gram, x));
      if (!are_finite(result.solved)) continue;
      if (result.ridge != ridge) {
        result.note = fmt::format("S + {:g} I has no Cholesky factor in float; {:g} is used.",
                                  ridge, result.ridge);
      }
      return result;
    }
    return Status(Code::bad_data,
                  fmt::format("No Cholesky factor exists for any ridge from {:g} to {:g}: the "
                              "learned sums are not finite or not positive definite.",
                              ridge, last));
  }

 private:
  double count(int k) const { return double(s_.counts[std::size_t(k)]); }
  // C[c] / n_c^power; zeros for a class without samples.
  std::vector<float> scaled_sums(double power) const {
    std::vector<float> rows(std::size_t(classes_) * std::size_t(units_));
    for (int k = 0; k < classes_; ++k) {
      const double factor = count(k) > 0 ? std::pow(count(k), -power) : 0.0;
      for (int m = 0; m < units_; ++m) {
        rows[std::size_t(k) * std::size_t(units_) + std::size_t(m)] = float(s_.sums(k, m) * factor);
      }
    }
    return rows;
  }

  const ClassStatistics& s_;
  int classes_, units_;
  std::int64_t samples_ = 0;
};

Status nothing_learned() {
  return Status(Code::invalid_argument,
                "Nothing was learned yet, so there is nothing to solve. Learn at least one sample "
                "first.");
}

std::vector<float> never_without_samples(std::span<const std::int64_t> counts) {
  std::vector<float> bias(counts.size());
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) bias[k] = std::numeric_limits<float>::lowest();
  }
  return bias;
}

// Of the factored form: whether G and C can be made beside it.
Status check_room(const Statistics& statistics) {
  const LearnerConfig& config = statistics.config();
  const std::int64_t needed = other_readout_bytes(config, statistics.classes().size());
  const DeviceMemory* device = buffer_memory();
  const std::int64_t free = device ? std::int64_t(device->free_bytes()) : available_memory();
  if (free == 0 || needed <= free) return {};
  return Status(Code::out_of_memory,
                fmt::format("A readout of this kind needs {} MB beside what was learned, for G of "
                            "{} hidden units, and {} MB are free. Nothing was changed; close other "
                            "programs, or choose blend, ridge or mean.",
                            needed / 1'000'000, config.hidden_units(), free / 1'000'000));
}

}  // namespace

Result<LinearReadout> discriminant_readout(const ClassStatistics& statistics, double shrinkage) {
  const WithinClassProblem problem(statistics);
  if (problem.samples() == 0) return nothing_learned();
  const int classes = statistics.sums.rows, units = statistics.gram.size;
  // One sample per class has no scatter: then all directions count the same.
  const double scatter = problem.trace_of_scatter(), all = problem.trace_of_gram();
  const double trace = scatter > 1e-6 * all ? scatter : std::max(all, 1.0);
  ENGRAM_ASSIGN(WithinClass within, problem.solve(shrinkage * trace / units));
  LinearReadout readout{std::move(within.solved), never_without_samples(statistics.counts),
                        within.ridge, std::move(within.note)};
  const auto degrees = float(std::max<std::int64_t>(1, problem.samples() - problem.classes()));
  for (float& weight : readout.weights) weight *= degrees;
  for (int k = 0; k < classes; ++k) {
    const std::size_t row = std::size_t(k) * std::size_t(units);
    readout.bias[std::size_t(k)] -= float(
        0.5 * product_in_double(within.means.data() + row, readout.weights.data() + row, units));
  }
  return readout;
}

Result<LinearReadout> balanced_readout(const ClassStatistics& statistics, double ridge) {
  const WithinClassProblem problem(statistics);
  if (problem.samples() == 0) return nothing_learned();
  ENGRAM_ASSIGN(WithinClass within, problem.solve(ridge));
  const int classes = statistics.sums.rows, units = statistics.gram.size;
  // With a = N/K, Mu of rows mu_c and V = Mu A^-1:  Wo = (A + a MuT Mu)^-1 a MuT, and by pushing
  // through, its rows are a (I + a Mu VT)^-1 V: one K x K system in double.
  const double a = double(problem.samples()) / double(problem.classes());
  const auto side = std::size_t(classes), width = std::size_t(units);
  std::vector<double> system(side * side);
  for (int i = 0; i < classes; ++i) {
    for (int j = 0; j <= i; ++j) {
      system[std::size_t(j) * side + std::size_t(i)] =
          a * product_in_double(within.means.data() + std::size_t(i) * width,
                                within.solved.data() + std::size_t(j) * width, units) +
          (i == j ? 1.0 : 0.0);
    }
  }
  int info = 0;
  dpotrf_("L", &classes, system.data(), &classes, &info);
  if (info != 0) {
    return Status(Code::bad_data,
                  "The balanced readout has no solution: the class means are not "
                  "finite.");
  }
  std::vector<double> columns(side * width);  // column-major: one column of K per unit
  for (std::size_t k = 0; k < side; ++k) {
    for (std::size_t m = 0; m < width; ++m) {
      columns[m * side + k] = a * within.solved[k * width + m];
    }
  }
  dpotrs_("L", &classes, &units, system.data(), &classes, columns.data(), &classes, &info);
  LinearReadout readout{std::move(within.solved), never_without_samples(statistics.counts),
                        within.ridge, std::move(within.note)};
  for (std::size_t k = 0; k < side; ++k) {
    for (std::size_t m = 0; m < width; ++m) {
      readout.weights[k * width + m] = float(columns[m * side + k]);
    }
  }
  return readout;
}

Result<Readout> statistics_readout(ReadoutKind kind, Statistics& statistics, double ridge) {
  const int units = statistics.hidden_units();
  Arena memory = Arena::empty();
  std::optional<DenseStatistics> made;
  if (statistics.form() == Form::factored) {
    ENGRAM_TRY(check_room(statistics));
    constexpr int kRows = kOtherReadoutRows;
    const std::size_t scratch_bytes =
        Arena::bytes_for(std::size_t(kRows) * std::size_t(units), sizeof(float));
    ENGRAM_ASSIGN(memory, Arena::create(DenseStatistics::arena_bytes(units) + scratch_bytes));
    made.emplace(units, statistics.kernels(), memory);
    ENGRAM_TRY(made->reserve_classes(statistics.classes().size()));
    made->set_classes(statistics.classes().size());
    ENGRAM_TRY(statistics.factored().add_to(*made, memory.take_matrix<float>(kRows, units)));
  }
  const DenseStatistics& dense = made ? *made : statistics.dense();
  const std::vector<std::int64_t> counts = counts_of(statistics.classes().all());
  const ClassStatistics sums{statistics.kernels(), dense.gram(), dense.sums(), counts};
  ENGRAM_ASSIGN(LinearReadout linear, kind == ReadoutKind::lda
                                          ? discriminant_readout(sums, kShrinkage)
                                          : balanced_readout(sums, ridge));
  Readout readout;
  readout.classes = labels_of(statistics.classes().all());
  readout.weights.assign(linear.weights.begin(), linear.weights.end());
  readout.bias = std::move(linear.bias);
  readout.hidden_units = units;
  readout.lambda = linear.ridge;
  readout.samples = statistics.samples();
  if (kind == ReadoutKind::lda) readout.confidence.beta = 1.0F;  // its scores are logarithms
  return readout;
}

Readout scaled_readout(const Readout& readout, std::span<const std::int64_t> counts,
                       double exponent) {
  ENGRAM_CHECK(counts.size() >= readout.classes.size() && readout.feature_weights.empty());
  Readout scaled = readout;
  const auto units = std::size_t(readout.hidden_units);
  for (std::size_t k = 0; k < readout.classes.size(); ++k) {
    const double factor = std::pow(double(std::max<std::int64_t>(1, counts[k])), -exponent);
    for (std::size_t m = 0; m < units; ++m) scaled.weights[k * units + m] *= float(factor);
  }
  return scaled;
}

Readout readout_on_targets(const Readout& readout, MatrixView<const float> targets) {
  const auto classes = int(readout.classes.size());
  ENGRAM_CHECK(targets.rows == classes && readout.feature_weights.empty());
  // mix[j,k] = e_k . e_j / |e_j|: the readout's row j is the sum over k of mix[j,k] times row k.
  std::vector<float> mix(std::size_t(classes) * std::size_t(classes));
  for (int j = 0; j < classes; ++j) {
    const double length =
        std::sqrt(product_in_double(targets.row(j), targets.row(j), targets.cols));
    ENGRAM_CHECK(length > 0);
    for (int k = 0; k < classes; ++k) {
      mix[std::size_t(j) * std::size_t(classes) + std::size_t(k)] =
          float(product_in_double(targets.row(k), targets.row(j), targets.cols) / length);
    }
  }
  Readout mixed = readout;
  const int units = readout.hidden_units;
  cpu::multiply(1.0f, plain({mix.data(), classes, classes, classes}),
                plain({readout.weights.data(), classes, units, units}), 0.0f,
                {mixed.weights.data(), classes, units, units});
  return mixed;
}

}  // namespace engram
