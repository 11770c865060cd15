#include "engine/readout_scores.h"

namespace engram {

Status score_samples(const Kernels& kernels, const Readout& readout, MatrixView<const float> h,
                     MatrixView<const float> f, MatrixView<float> scores) {
  const int classes = int(readout.classes.size()), units = readout.hidden_units;
  ENGRAM_TRY(kernels.score(Stream{}, h, {readout.weights.data(), classes, units, units}, scores));
  if (!readout.feature_weights.empty()) {
    ENGRAM_CHECK(readout.feature_weights.size() == std::size_t(f.cols) * std::size_t(classes));
    const KeptView weights{nullptr, readout.feature_weights.data(), f.cols, classes};
    ENGRAM_TRY(kernels.combine_rows(Stream{}, f, weights, scores));
  }
  for (int b = 0; b < scores.rows && !readout.bias.empty(); ++b) {
    for (int k = 0; k < classes; ++k) scores(b, k) += readout.bias[std::size_t(k)];
  }
  return {};
}

}  // namespace engram
