// The head that Phase 1 trains with and throws away: cosines of features and class vectors, times a
// learned sigma, and their cross entropy.
//
//     s[b,k] = sigma (f[b] / |f[b]|) . (w[k] / |w[k]|)        loss = -log softmax(s)[label]
//
// A step is begin_step, then for each micro-batch loss_and_gradient, then end_step: the gradient of
// unit class vectors is added up over micro-batches and passed through their normalisation once.
#pragma once

#include <span>

#include "engine/adapt_parameters.h"
#include "engine/buffer_list.h"
#include "kernels/chosen_kernels.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

// Sums over pictures.
struct HeadResult {
  double loss = 0;
  int right = 0;  // whose class has the largest score
  int count = 0;
};

// B pictures at once, K classes, L features.
struct HeadBuffers {
  HeadBuffers(int pictures, int classes, int features, BufferList& list);

  MatrixView<float> unit_weight, weight_lengths, dunit_weight;  // (K, L), (1, K), (K, L)
  MatrixView<float> features, dfeatures, unit_features;         // (B, L)
  MatrixView<float> lengths, losses, no_sigma;                  // (1, B), (1, B), (1, 1)
  MatrixView<float> cosines;                                    // (B, K)
  MatrixView<int> labels;                                       // (1, B)
};

class CosineHead {
 public:
  // kernels and the memory of the buffers must outlive it.
  CosineHead(const Kernels& kernels, const HeadBuffers& buffers)
      : kernels_(kernels), buffers_(buffers) {}

  MatrixView<float> features(int pictures) const {
    return buffers_.features.row_range(0, pictures);
  }
  MatrixView<float> dfeatures(int pictures) const {
    return buffers_.dfeatures.row_range(0, pictures);
  }

  Status begin_step(const AdaptViews<const float>& adapt);
  // Of features(labels.size()). weight: of one picture's loss in what is differentiated. Writes
  // dfeatures, adds to the gradient of sigma, adds to `result`.
  Status loss_and_gradient(std::span<const int> labels, const AdaptViews<const float>& adapt,
                           float weight, const AdaptViews<float>& gradients, HeadResult& result);
  // Writes the gradient of the class vectors.
  Status end_step(const AdaptViews<float>& gradients);
  // The loss alone, after begin_step.
  Status loss(std::span<const int> labels, const AdaptViews<const float>& adapt,
              HeadResult& result);

 private:
  Status cosines(std::span<const int> labels, const AdaptViews<const float>& adapt);
  Status cross_entropy(std::span<const int> labels, const AdaptViews<const float>& adapt,
                       float weight, MatrixView<float> dsigma, HeadResult& result);

  const Kernels& kernels_;
  HeadBuffers buffers_;
};

}  // namespace engram
