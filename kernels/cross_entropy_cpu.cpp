// cross_entropy on the CPU: in one thread, because a batch has a few thousand scores. Math, shapes and
// numerics: cross_entropy.h.
#include "kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>

namespace engram::cpu {

Status cross_entropy(Stream /*stream*/, MatrixView<const float> cosines,
                     MatrixView<const float> sigma, MatrixView<const int> labels, float weight,
                     MatrixView<float> losses, MatrixView<float> dcosines,
                     MatrixView<float> dsigma) {
  const int classes = cosines.cols;
  ENGRAM_CHECK(sigma.rows == 1 && sigma.cols == 1 && dsigma.rows == 1 && dsigma.cols == 1);
  ENGRAM_CHECK(labels.rows == 1 && labels.cols == cosines.rows);
  ENGRAM_CHECK(losses.rows == 1 && losses.cols == cosines.rows);
  ENGRAM_CHECK(dcosines.rows == cosines.rows && dcosines.cols == classes);
  const float scale = sigma(0, 0);
  double slope = 0;  // of the weighted sum of losses, by sigma
  for (int b = 0; b < cosines.rows; ++b) {
    const int label = labels(0, b);
    ENGRAM_CHECK(label >= 0 && label < classes);
    const float* const cosine = cosines.row(b);
    float* const to = dcosines.row(b);
    float largest = scale * cosine[0];
    for (int k = 1; k < classes; ++k) largest = std::max(largest, scale * cosine[k]);
    double sum = 0;
    for (int k = 0; k < classes; ++k) sum += std::exp(scale * cosine[k] - largest);
    losses(0, b) = float(std::log(sum) - double{scale * cosine[label] - largest});
    double slope_of_row = 0;
    for (int k = 0; k < classes; ++k) {
      const double share = std::exp(scale * cosine[k] - largest) / sum;
      const auto gradient = float(weight * (share - (k == label ? 1.0 : 0.0)));
      slope_of_row += double{gradient} * cosine[k];
      to[k] = scale * gradient;
    }
    slope += slope_of_row;
  }
  dsigma(0, 0) += float(slope);
  return Status();
}

}  // namespace engram::cpu
