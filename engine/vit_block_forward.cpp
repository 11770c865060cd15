#include <cmath>

#include "engine/vit_block.h"
#include "engine/vit_views.h"
#include "kernels/kernels.h"

namespace engram {

Status VitBlockPass::attend(MatrixView<const float> x, const VitActivations& kept) const {
  const int d = shape.width;
  const MatrixView<float> n = scratch.narrow.as(x.rows, d);
  ENGRAM_TRY(kernels.layer_norm(Stream{}, x, row_of(weights.norm1.weight),
                                row_of(weights.norm1.bias), shape.epsilon, n, kept.stats1));
  if (adapt.norm1.scale.rows > 0) {
    ENGRAM_TRY(kernels.scale_shift(Stream{}, n, adapt.norm1.scale, adapt.norm1.shift, n));
  }
  ENGRAM_TRY(
      kernels.linear(Stream{}, n, weight_of(weights.qkv, d), row_of(weights.qkv.bias), kept.qkv));
  MatrixView<float> qkv = kept.qkv;
  if (adapt.qkv.scale.rows > 0) {
    qkv = scratch.wide.as(x.rows, 3 * d);
    ENGRAM_TRY(kernels.scale_shift(Stream{}, kept.qkv, adapt.qkv.scale, adapt.qkv.shift, qkv));
  }
  return kernels.attention(Stream{}, qkv, tokens, shape.heads,
                           1.0f / std::sqrt(float(shape.head())), kept.attended, kept.logsums);
}

Status VitBlockPass::mix(MatrixView<const float> attended, MatrixView<const float> x,
                         const VitActivations& kept, MatrixView<float> y) const {
  const int rows = x.rows, d = shape.width;
  const MatrixView<float> branch = scratch.branch.as(rows, d);
  const bool is_kept = kept.projected.rows > 0;
  const MatrixView<float> projected = is_kept ? kept.projected : branch;
  ENGRAM_TRY(kernels.linear(Stream{}, attended, weight_of(weights.proj, d),
                            row_of(weights.proj.bias), projected));
  if (adapt.proj.scale.rows > 0) {
    ENGRAM_TRY(
        kernels.scale_shift(Stream{}, projected, adapt.proj.scale, adapt.proj.shift, branch));
  }
  ENGRAM_TRY(kernels.add_scaled(Stream{}, x, branch, row_of(weights.scale1), 1.0f, kept.middle));
  ENGRAM_TRY(mlp(rows, kept, y));
  return adapt.down_weight.rows > 0 ? bottleneck(rows, kept, y) : Status();
}

Status VitBlockPass::mlp(int rows, const VitActivations& kept, MatrixView<float> y) const {
  const int d = shape.width, f = shape.hidden;
  const MatrixView<float> n = scratch.narrow.as(rows, d), branch = scratch.branch.as(rows, d);
  const MatrixView<float> wide = scratch.wide.as(rows, f);
  ENGRAM_TRY(kernels.layer_norm(Stream{}, kept.middle, row_of(weights.norm2.weight),
                                row_of(weights.norm2.bias), shape.epsilon, n, kept.stats2));
  if (adapt.norm2.scale.rows > 0) {
    ENGRAM_TRY(kernels.scale_shift(Stream{}, n, adapt.norm2.scale, adapt.norm2.shift, n));
  }
  ENGRAM_TRY(kernels.linear(Stream{}, n, weight_of(weights.fc1, d), row_of(weights.fc1.bias),
                            kept.hidden));
  if (y.rows == 0 && kept.output.rows == 0) return {};
  if (adapt.fc1.scale.rows > 0) {
    ENGRAM_TRY(kernels.scale_shift(Stream{}, kept.hidden, adapt.fc1.scale, adapt.fc1.shift, wide));
    ENGRAM_TRY(kernels.gelu(Stream{}, wide, shape.gelu, wide));
  } else {
    ENGRAM_TRY(kernels.gelu(Stream{}, kept.hidden, shape.gelu, wide));
  }
  const MatrixView<float> output = kept.output.rows > 0 ? kept.output : branch;
  ENGRAM_TRY(
      kernels.linear(Stream{}, wide, weight_of(weights.fc2, f), row_of(weights.fc2.bias), output));
  if (y.rows == 0) return {};
  if (adapt.fc2.scale.rows > 0) {
    ENGRAM_TRY(kernels.scale_shift(Stream{}, output, adapt.fc2.scale, adapt.fc2.shift, branch));
  }
  return kernels.add_scaled(Stream{}, kept.middle, branch, row_of(weights.scale2), 1.0f, y);
}

Status VitBlockPass::bottleneck(int rows, const VitActivations& kept, MatrixView<float> y) const {
  const MatrixView<float> narrow = kept.bottleneck;
  const MatrixView<float> branch = scratch.branch.as(rows, shape.width);
  ENGRAM_TRY(kernels.linear(Stream{}, kept.middle, adapt.down_weight, adapt.down_bias, narrow));
  ENGRAM_TRY(kernels.gelu(Stream{}, narrow, GeluKind::relu, narrow));
  if (dropout.rate > 0) {
    ENGRAM_TRY(
        kernels.dropout(Stream{}, narrow, dropout.rate, dropout.seed, dropout.first, narrow));
  }
  if (y.rows == 0) return {};
  ENGRAM_TRY(kernels.linear(Stream{}, narrow, adapt.up_weight, adapt.up_bias, branch));
  return kernels.add_scaled(Stream{}, y, branch, {}, branch_scale, y);
}

}  // namespace engram
