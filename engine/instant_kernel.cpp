#include "engine/instant_kernel.h"

#include <vector>

namespace engram {

Status learn_at_once(const InstantKernel& problem, MatrixView<const float> fresh,
                     std::span<const std::int32_t> classes, MatrixView<float> readout) {
  const GramView& kernel = problem.kernel;
  const int known = problem.known, size = kernel.size, added = size - known;
  ENGRAM_CHECK(added >= 0 && fresh.rows == added && std::size_t(added) == classes.size());
  ENGRAM_CHECK(fresh.cols == readout.cols);
  if (added == 0) return {};
  ENGRAM_TRY(problem.kernels.factor_append(Stream{}, float(problem.lambda), known, kernel));

  // UT U x = the last p unit vectors: of the first half only the last p entries are not zero.
  std::vector<float> inverse(std::size_t(added) * std::size_t(size));
  const MatrixView<float> x{inverse.data(), added, size, size};
  for (int i = 0; i < added; ++i) x(i, known + i) = 1.0f;
  const GramView corner{kernel.row(known) + known, kernel.diagonal + known, added, kernel.stride};
  ENGRAM_TRY(problem.kernels.triangular_solve(Stream{}, corner, /*transposed=*/true,
                                              {x.data + known, added, added, size}));
  ENGRAM_TRY(problem.kernels.triangular_solve(Stream{}, kernel, /*transposed=*/false, x));

  std::vector<float> directions(std::size_t(added) * std::size_t(readout.cols));
  const MatrixView<float> xh{directions.data(), added, readout.cols, readout.cols};
  ENGRAM_TRY(problem.combine(x, xh));

  // What the readout says of the new samples, then its errors, turned: a row per class.
  std::vector<float> said(std::size_t(added) * std::size_t(readout.rows)), errors(said.size());
  const MatrixView<float> s{said.data(), added, readout.rows, readout.rows};
  const MatrixView<float> e{errors.data(), readout.rows, added, added};
  ENGRAM_TRY(problem.kernels.score(Stream{}, fresh, readout, s));
  for (int k = 0; k < readout.rows; ++k) {
    for (int i = 0; i < added; ++i) e(k, i) = float(classes[std::size_t(i)] == k) - s(i, k);
  }
  return problem.kernels.combine_rows(Stream{}, e, {nullptr, xh.data, added, readout.cols},
                                      readout);
}

}  // namespace engram
