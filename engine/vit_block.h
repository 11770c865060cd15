// One block of a Vision Transformer with what adapts it, forward and backward.
//
//     attend   n = norm1(x), q|k|v = qkv(n), a = attention(q, k, v)                 for every token
//     mix      m = x + scale1 proj(a)                                   for the rows that are wanted
//              y = m + scale2 fc2(gelu(fc1(norm2(m)))) + s up(dropout(relu(down(m))))
//
// The rows of mix are all tokens, or in the last block class tokens alone. Parameters that a method
// has not have no rows, and then its operations are left out: one text for all methods.
//
// Backward. mix_back takes the gradient of y and makes it the gradient of x as far as it does not
// pass through attention, beside the gradient of a; attend_back passes that on to x. Gradients of
// parameters are added to. Frozen weights have none. What ssf has scaled is scaled again rather than
// kept twice, and norms are computed again.
#pragma once

#include <cstdint>

#include "engine/adapt_parameters.h"
#include "engine/vit_buffers.h"
#include "kernels/chosen_kernels.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

// Where in the stream of random numbers the elements of a bottleneck lie.
struct DropoutPlace {
  float rate = 0;  // 0: nothing is dropped
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
};

struct VitBlockPass {
  const Kernels& kernels;
  const VitShape& shape;
  const VitScratch& scratch;
  int tokens;
  float branch_scale;
  const VitBlock& weights;
  const AdaptBlockViews<const float>& adapt;
  DropoutPlace dropout;

  // x (R, D); into kept.stats1, qkv, attended, logsums.
  Status attend(MatrixView<const float> x, const VitActivations& kept) const;
  // attended, x, y (rows, D); into the other members of kept, and y. Without y (no rows) only what a
  // backward needs.
  Status mix(MatrixView<const float> attended, MatrixView<const float> x,
             const VitActivations& kept, MatrixView<float> y) const;

  // The bottleneck's own gradients from dy, and no more: where nothing below trains.
  Status bottleneck_gradients(MatrixView<const float> dy, const VitActivations& kept,
                              const AdaptBlockViews<float>& gradients) const;
  // dy (rows, D) becomes the gradient of x without attention; dattended (rows, D).
  Status mix_back(const VitActivations& kept, const AdaptBlockViews<float>& gradients,
                  MatrixView<float> dy, MatrixView<float> dattended) const;
  // dx (R, D): written, or added to.
  Status attend_back(MatrixView<const float> x, const VitActivations& kept,
                     MatrixView<const float> dattended, const AdaptBlockViews<float>& gradients,
                     bool add, MatrixView<float> dx) const;

 private:
  Status mlp(int rows, const VitActivations& kept, MatrixView<float> y) const;
  Status bottleneck(int rows, const VitActivations& kept, MatrixView<float> y) const;
  Status mlp_back(const VitActivations& kept, const AdaptBlockViews<float>& gradients,
                  MatrixView<float> dy) const;
  Status squeeze_back(MatrixView<const float> dy, const VitActivations& kept,
                      const AdaptBlockViews<float>& gradients) const;
  // Gradient of a norm's output, in scratch.narrow, to the gradient of x, added to dx.
  Status norm_back(const VitNorm& norm, const ScaleShiftViews<const float>& scale,
                   const ScaleShiftViews<float>& gradients, MatrixView<const float> x,
                   MatrixView<float> stats, bool add, MatrixView<float> dx) const;
};

}  // namespace engram
