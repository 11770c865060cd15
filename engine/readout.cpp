#include "engine/readout.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engine/lambda_range.h"
#include "engine/statistics.h"

namespace engram {
namespace {

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

// Wo into `weights`; false: no usable factor at this lambda.
bool solve(Statistics& statistics, double lambda, std::vector<float>& weights) {
  const Kernels& kernels = statistics.kernels();
  const MatrixView<const float> sums = statistics.sums();
  if (!kernels.cholesky(Stream{}, float(lambda), {}, statistics.gram()).ok()) return false;
  weights.assign(sums.data, sums.data + std::size_t(sums.rows) * std::size_t(sums.cols));
  const MatrixView<float> readout{weights.data(), sums.rows, sums.cols, sums.cols};
  return kernels.cholesky_solve(Stream{}, statistics.gram(), readout).ok() && all_finite(weights);
}

}  // namespace

Result<Readout> solve_readout(Statistics& statistics, double lambda, std::string& note) {
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
  for (double tried = lambda; tried <= last; tried *= 10.0) {
    if (!solve(statistics, tried, readout.weights)) continue;
    if (tried != lambda) {
      note += fmt::format("{}G + {:g} I has no Cholesky factor in float; {:g} is used.",
                          note.empty() ? "" : " ", lambda, tried);
    }
    for (const ClassInfo& info : statistics.classes()) readout.classes.push_back(info.label);
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
