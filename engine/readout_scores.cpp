#include "engine/readout_scores.h"

#include <algorithm>

#include "kernels/kernels.h"

namespace engram {
namespace {

// scores (B, K) += f (B, L) weights (K, L)T, a tile at a time: classifying allocates nothing.
Status add_feature_scores(const Kernels& kernels, MatrixView<const float> f,
                          MatrixView<const float> weights, float* tile, MatrixView<float> scores) {
  constexpr int kRows = kScoreTileRows, kClasses = kScoreTileClasses;
  for (int first = 0; first < scores.rows; first += kRows) {
    const int rows = std::min(kRows, scores.rows - first);
    for (int from = 0; from < scores.cols; from += kClasses) {
      const int classes = std::min(kClasses, scores.cols - from);
      const MatrixView<float> part{tile, rows, classes, classes};
      ENGRAM_TRY(kernels.score(Stream{}, f.row_range(first, rows), weights.row_range(from, classes),
                               part));
      for (int b = 0; b < rows; ++b) {
        float* row = scores.row(first + b) + from;
        for (int k = 0; k < classes; ++k) row[k] += part(b, k);
      }
    }
  }
  return {};
}

}  // namespace

void add_bias(const Readout& readout, MatrixView<float> scores) {
  for (int b = 0; b < scores.rows && !readout.bias.empty(); ++b) {
    for (int k = 0; k < scores.cols; ++k) scores(b, k) += readout.bias[std::size_t(k)];
  }
}

Status score_samples(const Kernels& kernels, const Readout& readout, MatrixView<const float> h,
                     MatrixView<const float> f, float* tile, MatrixView<float> scores) {
  const int classes = int(readout.classes.size()), units = readout.hidden_units;
  ENGRAM_TRY(kernels.score(Stream{}, h, {readout.weights.data(), classes, units, units}, scores));
  if (!readout.feature_weights.empty()) {
    ENGRAM_CHECK(readout.feature_weights.size() == std::size_t(classes) * std::size_t(f.cols));
    ENGRAM_TRY(add_feature_scores(
        kernels, f, {readout.feature_weights.data(), classes, f.cols, f.cols}, tile, scores));
  }
  add_bias(readout, scores);
  return {};
}

}  // namespace engram
