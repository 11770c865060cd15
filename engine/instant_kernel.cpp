#include "engine/instant_kernel.h"

#include <algorithm>
#include <vector>

#include "kernels/kernels.h"
#include "platform/threads.h"

namespace engram {
namespace {

constexpr int kFewSamples = 4;
constexpr int kRowGrain = 4;

float scale_of(const ScoreBlend& blend, int k) {
  return blend.ridge.empty() ? 1.0f : blend.ridge[std::size_t(k)];
}

// after[k] = a' (before[k] / a + e[k] xh) of one class; `old` is null where it is new. A piece at a time
// goes through all three steps while it is in the nearest cache.
void next_row(const float* old, float old_scale, const float* errors, MatrixView<const float> xh,
              float scale, float* row) {
  constexpr int kPiece = 1024;
  float piece[kPiece];
  for (int first = 0; first < xh.cols; first += kPiece) {
    const int count = std::min(kPiece, xh.cols - first);
    for (int m = 0; m < count; ++m) piece[m] = old == nullptr ? 0.0f : old[first + m] / old_scale;
    for (int i = 0; i < xh.rows; ++i) {
      const float error = errors[i];
      const float* direction = xh.row(i) + first;
      for (int m = 0; m < count; ++m) piece[m] += error * direction[m];
    }
    for (int m = 0; m < count; ++m) row[first + m] = piece[m] * scale;
  }
}

// The same of all classes. With many new samples the middle step is the backend's.
Status add_directions(const Kernels& kernels, MatrixView<const float> e, MatrixView<const float> xh,
                      const InstantReadout& readout) {
  const bool few = xh.rows <= kFewSamples;
  const MatrixView<const float> here = few ? xh : MatrixView<const float>{nullptr, 0, xh.cols, 0};
  parallel_for(e.rows, kRowGrain, [&](int begin, int end) {
    for (int k = begin; k < end; ++k) {
      const bool known = k < readout.before.rows;
      next_row(known ? readout.before.row(k) : nullptr, known ? scale_of(readout.blend, k) : 1.0f,
               e.row(k), here, few ? scale_of(readout.next_blend, k) : 1.0f, readout.after.row(k));
    }
  });
  if (few) return {};
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
  const int units = readout.after.cols, old_classes = readout.before.rows;
  ENGRAM_CHECK(added >= 0 && fresh.rows == added && std::size_t(added) == classes.size());
  ENGRAM_CHECK(fresh.cols == units && readout.before.cols == units);
  ENGRAM_CHECK(readout.after.rows >= old_classes);
  if (added == 0)
    return add_directions(problem.kernels, {nullptr, readout.after.rows, 0, 0}, fresh, readout);
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

  // What the readout says of the new samples, then its errors, turned: a row per class.
  std::vector<float> said(std::size_t(added) * std::size_t(old_classes));
  std::vector<float> errors(std::size_t(added) * std::size_t(readout.after.rows));
  const MatrixView<float> s{said.data(), added, old_classes, old_classes};
  const MatrixView<float> e{errors.data(), readout.after.rows, added, added};
  if (old_classes > 0) ENGRAM_TRY(problem.kernels.score(Stream{}, fresh, readout.before, s));
  for (int k = 0; k < e.rows; ++k) {
    for (int i = 0; i < added; ++i) {
      const float score = k < old_classes ? s(i, k) / scale_of(readout.blend, k) : 0.0f;
      e(k, i) = float(classes[std::size_t(i)] == k) - score;
    }
  }
  return add_directions(problem.kernels, e, xh, readout);
}

}  // namespace engram
