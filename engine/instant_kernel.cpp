#include "engine/instant_kernel.h"

#include <algorithm>
#include <vector>

#include "kernels/kernels.h"
#include "platform/blas.h"
#include "platform/threads.h"

namespace engram {
namespace {

constexpr int kFewAtOnce = 4;
constexpr int kRowGrain = 4;

float scale_of(const ScoreBlend& blend, int k) {
  return blend.ridge.empty() ? 1.0f : blend.ridge[std::size_t(k)];
}

// row = share * old + steps . xh, where old may be missing or the row itself. A piece at a time goes
// through all steps while it is in the nearest cache.
void next_row(const float* old, float share, const float* steps, MatrixView<const float> xh,
              float* row) {
  constexpr int kPiece = 1024;
  for (int first = 0; first < xh.cols; first += kPiece) {
    const int last = std::min(first + kPiece, xh.cols);
    for (int m = first; m < last; ++m) row[m] = old == nullptr ? 0.0f : share * old[m];
    for (int i = 0; i < xh.rows; ++i) {
      const float step = steps[i];
      const float* direction = xh.row(i);
      for (int m = first; m < last; ++m) row[m] += step * direction[m];
    }
  }
}

// The readout of few new samples, class by class: what a row says of them, and then the row itself while
// it is in the cache.
void learn_few(MatrixView<const float> fresh, std::span<const std::int32_t> classes,
               MatrixView<const float> xh, const InstantReadout& readout) {
  parallel_for(readout.after.rows, kRowGrain, [&](int begin, int end) {
    for (int k = begin; k < end; ++k) {
      const bool known = k < readout.before.rows;
      const float* old = known ? readout.before.row(k) : nullptr;
      const float before = known ? scale_of(readout.blend, k) : 1.0f;
      const float scale = scale_of(readout.next_blend, k);
      float steps[kFewAtOnce];
      for (int i = 0; i < fresh.rows; ++i) {
        const float said = known ? cblas_sdot(fresh.cols, fresh.row(i), 1, old, 1) / before : 0.0f;
        steps[i] = scale * (float(classes[std::size_t(i)] == k) - said);
      }
      next_row(old, scale / before, steps, xh, readout.after.row(k));
    }
  });
}

// The same of many, by the backend.
Status learn_many(const Kernels& kernels, MatrixView<const float> fresh,
                  std::span<const std::int32_t> classes, MatrixView<const float> xh,
                  const InstantReadout& readout) {
  const int known = readout.before.rows, all = readout.after.rows, added = fresh.rows;
  std::vector<float> said(std::size_t(added) * std::size_t(known));
  std::vector<float> errors(std::size_t(added) * std::size_t(all));
  const MatrixView<float> s{said.data(), added, known, known};
  const MatrixView<float> e{errors.data(), all, added, added};
  if (known > 0) ENGRAM_TRY(kernels.score(Stream{}, fresh, readout.before, s));
  const MatrixView<const float> nothing{nullptr, 0, xh.cols, 0};
  parallel_for(all, kRowGrain, [&](int begin, int end) {
    for (int k = begin; k < end; ++k) {
      const float before = k < known ? scale_of(readout.blend, k) : 1.0f;
      for (int i = 0; i < added; ++i) {
        const float score = k < known ? s(i, k) / before : 0.0f;
        e(k, i) = float(classes[std::size_t(i)] == k) - score;
      }
      next_row(k < known ? readout.before.row(k) : nullptr, 1.0f / before, nullptr, nothing,
               readout.after.row(k));
    }
  });
  ENGRAM_TRY(
      kernels.combine_rows(Stream{}, e, {nullptr, xh.data, xh.rows, xh.cols}, readout.after));
  scale_ridge(readout.next_blend, readout.after);
  return {};
}

}  // namespace

Status learn_at_once(const InstantKernel& problem, MatrixView<const float> fresh,
                     std::span<const std::int32_t> classes, const InstantReadout& readout) {
  const GramView& kernel = problem.kernel;
  const int known = problem.known, size = kernel.size, added = size - known;
  const int units = readout.after.cols;
  ENGRAM_CHECK(added >= 0 && fresh.rows == added && std::size_t(added) == classes.size());
  ENGRAM_CHECK(fresh.cols == units && readout.before.cols == units);
  ENGRAM_CHECK(readout.after.rows >= readout.before.rows);
  if (added == 0) {
    learn_few(fresh, classes, fresh, readout);
    return {};
  }
  ENGRAM_TRY(problem.kernels.factor_append(Stream{}, float(problem.lambda), known, kernel));

  // UT U x = the last p unit vectors: of the first half only the last p entries are not zero.
  std::vector<float> inverse(std::size_t(added) * std::size_t(size));
  const MatrixView<float> x{inverse.data(), added, size, size};
  for (int i = 0; i < added; ++i) x(i, known + i) = 1.0f;
  const GramView corner{kernel.row(known) + known, kernel.diagonal + known, added, kernel.stride};
  ENGRAM_TRY(problem.kernels.triangular_solve(Stream{}, corner, /*transposed=*/true,
                                              {x.data + known, added, added, size}));
  ENGRAM_TRY(problem.kernels.triangular_solve(Stream{}, kernel, /*transposed=*/false, x));

  std::vector<float> directions(std::size_t(added) * std::size_t(units));
  const MatrixView<float> xh{directions.data(), added, units, units};
  ENGRAM_TRY(problem.combine(x, xh));

  if (added > kFewAtOnce) return learn_many(problem.kernels, fresh, classes, xh, readout);
  learn_few(fresh, classes, xh, readout);
  return {};
}

}  // namespace engram
