#include "engine/readout.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "engine/lambda_range.h"
#include "engine/statistics.h"
#include "kernels/kernels.h"
#include "platform/finite.h"

namespace engram {
namespace {

// Wo into `weights`.
template <class Vector>
Status solve(const DenseStatistics& dense, const Kernels& kernels, Vector& weights) {
  const MatrixView<const float> sums = dense.sums();
  weights.assign(sums.data, sums.data + std::size_t(sums.rows) * std::size_t(sums.cols));
  const MatrixView<float> readout{weights.data(), sums.rows, sums.cols, sums.cols};
  return kernels.cholesky_solve(Stream{}, dense.gram(), readout);
}

template <class Vector>
Status solve(const FactoredStatistics& factored, int classes, const Kernels& kernels,
             std::vector<float>& dual, Vector& weights) {
  const GramView kernel = factored.kernel().view();
  const int units = factored.hidden_units();
  const bool solved = !dual.empty();
  dual.resize(std::size_t(classes) * std::size_t(kernel.size));
  const MatrixView<float> solution{dual.data(), classes, kernel.size, kernel.size};
  if (!solved) {
    const std::span<const std::int32_t> labels = factored.kept().classes();
    for (int n = 0; n < kernel.size; ++n) solution(labels[std::size_t(n)], n) = 1.0f;
    ENGRAM_TRY(kernels.cholesky_solve(Stream{}, kernel, solution));
  }
  weights.assign(std::size_t(classes) * std::size_t(units), 0.0f);
  return factored.combine(solution, {weights.data(), classes, units, units});
}

// dual: empty, or the solution with the factor that is there. bad_data: no usable factor at this lambda.
template <class Vector>
Status solve(Statistics& statistics, double lambda, bool factored, std::vector<float> dual,
             Vector& weights) {
  const Kernels& kernels = statistics.kernels();
  const bool dense = statistics.form() == Form::dense;
  const GramView gram = dense ? statistics.dense().gram() : statistics.factored().kernel().view();
  if (!factored) ENGRAM_TRY(kernels.cholesky(Stream{}, float(lambda), {}, gram));
  ENGRAM_TRY(
      dense ? solve(statistics.dense(), kernels, weights)
            : solve(statistics.factored(), statistics.classes().size(), kernels, dual, weights));
  if (!are_finite(weights)) return Status(Code::bad_data, "weights that are not finite");
  if (!dense) statistics.factored().kernel().set_factor(lambda);
  return {};
}

}  // namespace

Result<Readout> solve_readout(Statistics& statistics, double lambda, std::string& note,
                              bool factored, std::vector<float> dual) {
  ENGRAM_CHECK(dual.empty() || factored);
  if (statistics.samples() == 0) {
    return Status(
        Code::invalid_argument,
        "Nothing was learned yet, so there is nothing to solve. Learn at least one sample "
        "first.");
  }
  // Beyond the trace the ridge outweighs all that was learned: a failure there is not about lambda.
  // Sums that overflowed have no trace at all: nothing is tried.
  const double trace = statistics.trace();
  const double last =
      std::isfinite(trace) ? std::min(kLargestLambda, std::max(lambda, 10.0 * trace)) : 0.0;
  Readout readout;
  // A device is slow in a readout's own memory (platform/device_memory.h), so it solves elsewhere.
  BufferVector<float> apart;
  const bool on_device = buffer_memory() != nullptr;
  const auto solve_at = [&](double tried, bool have_factor) -> Status {
    std::vector<float> known = std::exchange(dual, {});
    if (!on_device) {
      return solve(statistics, tried, have_factor, std::move(known), readout.weights);
    }
    ENGRAM_TRY(solve(statistics, tried, have_factor, std::move(known), apart));
    readout.weights.assign(apart.begin(), apart.end());
    return {};
  };
  for (double tried = lambda; tried <= last; tried *= 10.0) {
    const bool have_factor = factored && tried == lambda;
    const Status solved = solve_at(tried, have_factor);
    if (solved.code() == Code::bad_data) continue;
    ENGRAM_TRY(solved);  // not about lambda: memory, a device
    if (tried != lambda) {
      note += fmt::format("{}G + {:g} I has no Cholesky factor in float; {:g} is used.",
                          note.empty() ? "" : " ", lambda, tried);
    }
    readout.classes = labels_of(statistics.classes().all());
    readout.hidden_units = statistics.hidden_units();
    readout.lambda = tried;
    readout.samples = statistics.samples();
    return readout;
  }
  return Status(
      Code::bad_data,
      fmt::format("No Cholesky factor exists for any lambda from {:g} to {:g}: the learned "
                  "sums are not finite or not positive definite. The readout before was "
                  "kept.",
                  lambda, last));
}

}  // namespace engram
