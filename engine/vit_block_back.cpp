#include <cmath>

#include "engine/vit_block.h"
#include "engine/vit_views.h"
#include "kernels/kernels.h"

namespace engram {

// dropout and relu back at once: what was dropped or negative is zero in the bottleneck.
Status VitBlockPass::squeeze_back(MatrixView<const float> dy, const VitActivations& kept,
                                  const AdaptBlockViews<float>& gradients) const {
  const MatrixView<float> du = scratch.branch.as(dy.rows, dy.cols);
  const MatrixView<float> da = scratch.squeeze.as(dy.rows, kept.bottleneck.cols);
  ENGRAM_TRY(kernels.add_scaled(Stream{}, {}, dy, {}, branch_scale, du));
  ENGRAM_TRY(kernels.linear_gradient(Stream{}, du, kept.bottleneck, gradients.up_weight,
                                     gradients.up_bias));
  ENGRAM_TRY(kernels.linear_back(Stream{}, du, adapt.up_weight, /*add=*/false, da));
  if (dropout.rate > 0) {
    ENGRAM_TRY(kernels.dropout(Stream{}, da, dropout.rate, dropout.seed, dropout.first, da));
  }
  return kernels.gelu_back(Stream{}, da, kept.bottleneck, GeluKind::relu, da);
}

Status VitBlockPass::bottleneck_gradients(MatrixView<const float> dy, const VitActivations& kept,
                                          const AdaptBlockViews<float>& gradients) const {
  ENGRAM_TRY(squeeze_back(dy, kept, gradients));
  return kernels.linear_gradient(Stream{}, scratch.squeeze.as(dy.rows, kept.bottleneck.cols),
                                 kept.middle, gradients.down_weight, gradients.down_bias);
}

Status VitBlockPass::mix_back(const VitActivations& kept, const AdaptBlockViews<float>& gradients,
                              MatrixView<float> dy, MatrixView<float> dattended) const {
  const int rows = dy.rows, d = shape.width;
  const bool has_bottleneck = adapt.down_weight.rows > 0;
  // The gradient in the bottleneck is computed of dy before the MLP's is added to dy.
  if (has_bottleneck) ENGRAM_TRY(bottleneck_gradients(dy, kept, gradients));
  ENGRAM_TRY(mlp_back(kept, gradients, dy));
  if (has_bottleneck) {
    ENGRAM_TRY(kernels.linear_back(Stream{}, scratch.squeeze.as(rows, kept.bottleneck.cols),
                                   adapt.down_weight, /*add=*/true, dy));
  }
  MatrixView<float> dp = dy;
  if (!weights.scale1.empty()) {
    dp = scratch.branch.as(rows, d);
    ENGRAM_TRY(kernels.add_scaled(Stream{}, {}, dy, row_of(weights.scale1), 1.0f, dp));
  }
  if (adapt.proj.scale.rows > 0) {
    const MatrixView<float> scaled = scratch.branch.as(rows, d);
    ENGRAM_TRY(kernels.scale_shift_back(Stream{}, dp, kept.projected, adapt.proj.scale, scaled,
                                        gradients.proj.scale, gradients.proj.shift));
    dp = scaled;
  }
  return kernels.linear_back(Stream{}, dp, weight_of(weights.proj, d), /*add=*/false, dattended);
}

Status VitBlockPass::mlp_back(const VitActivations& kept, const AdaptBlockViews<float>& gradients,
                              MatrixView<float> dy) const {
  const int rows = dy.rows, d = shape.width, f = shape.hidden;
  const MatrixView<float> branch = scratch.branch.as(rows, d), wide = scratch.wide.as(rows, f);
  MatrixView<float> dm = dy;
  if (!weights.scale2.empty()) {
    dm = branch;
    ENGRAM_TRY(kernels.add_scaled(Stream{}, {}, dy, row_of(weights.scale2), 1.0f, dm));
  }
  if (adapt.fc2.scale.rows > 0) {
    ENGRAM_TRY(kernels.scale_shift_back(Stream{}, dm, kept.output, adapt.fc2.scale, branch,
                                        gradients.fc2.scale, gradients.fc2.shift));
    dm = branch;
  }
  ENGRAM_TRY(kernels.linear_back(Stream{}, dm, weight_of(weights.fc2, f), /*add=*/false, wide));
  MatrixView<float> hidden = kept.hidden;
  if (adapt.fc1.scale.rows > 0) {
    hidden = scratch.scaled.as(rows, f);
    ENGRAM_TRY(
        kernels.scale_shift(Stream{}, kept.hidden, adapt.fc1.scale, adapt.fc1.shift, hidden));
  }
  ENGRAM_TRY(kernels.gelu_back(Stream{}, wide, hidden, shape.gelu, wide));
  if (adapt.fc1.scale.rows > 0) {
    ENGRAM_TRY(kernels.scale_shift_back(Stream{}, wide, kept.hidden, adapt.fc1.scale, wide,
                                        gradients.fc1.scale, gradients.fc1.shift));
  }
  ENGRAM_TRY(kernels.linear_back(Stream{}, wide, weight_of(weights.fc1, d), /*add=*/false,
                                 scratch.narrow.as(rows, d)));
  return norm_back(weights.norm2, adapt.norm2, gradients.norm2, kept.middle, kept.stats2,
                   /*add=*/true, dy);
}

Status VitBlockPass::attend_back(MatrixView<const float> x, const VitActivations& kept,
                                 MatrixView<const float> dattended,
                                 const AdaptBlockViews<float>& gradients, bool add,
                                 MatrixView<float> dx) const {
  const int rows = x.rows, d = shape.width;
  const MatrixView<float> dqkv = scratch.wide.as(rows, 3 * d);
  MatrixView<float> qkv = kept.qkv;
  if (adapt.qkv.scale.rows > 0) {
    qkv = scratch.scaled.as(rows, 3 * d);
    ENGRAM_TRY(kernels.scale_shift(Stream{}, kept.qkv, adapt.qkv.scale, adapt.qkv.shift, qkv));
  }
  ENGRAM_TRY(kernels.attention_back(Stream{}, dattended, qkv, kept.attended, kept.logsums, tokens,
                                    shape.heads, 1.0f / std::sqrt(float(shape.head())), dqkv));
  if (adapt.qkv.scale.rows > 0) {
    ENGRAM_TRY(kernels.scale_shift_back(Stream{}, dqkv, kept.qkv, adapt.qkv.scale, dqkv,
                                        gradients.qkv.scale, gradients.qkv.shift));
  }
  ENGRAM_TRY(kernels.linear_back(Stream{}, dqkv, weight_of(weights.qkv, d), /*add=*/false,
                                 scratch.narrow.as(rows, d)));
  return norm_back(weights.norm1, adapt.norm1, gradients.norm1, x, kept.stats1, add, dx);
}

Status VitBlockPass::norm_back(const VitNorm& norm, const ScaleShiftViews<const float>& scale,
                               const ScaleShiftViews<float>& gradients, MatrixView<const float> x,
                               MatrixView<float> stats, bool add, MatrixView<float> dx) const {
  const MatrixView<float> dn = scratch.narrow.as(x.rows, x.cols);
  if (scale.scale.rows > 0) {
    const MatrixView<float> n = scratch.branch.as(x.rows, x.cols);
    ENGRAM_TRY(kernels.layer_norm(Stream{}, x, row_of(norm.weight), row_of(norm.bias),
                                  shape.epsilon, n, stats));
    ENGRAM_TRY(kernels.scale_shift_back(Stream{}, dn, n, scale.scale, dn, gradients.scale,
                                        gradients.shift));
  }
  return kernels.layer_norm_back(Stream{}, dn, x, row_of(norm.weight), stats, add, dx);
}

}  // namespace engram
