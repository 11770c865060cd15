#include "tools/convert/vit_write.h"

namespace engram {

namespace {

// `weight` has a row, or one value, for each of `bias`'s; an absent bias is zero.
void fold(const ScaleShiftViews<const float>& by, BufferVector<float>& weight,
          BufferVector<float>& bias) {
  const auto outputs = static_cast<std::size_t>(by.scale.cols);
  ENGRAM_CHECK(outputs > 0 && weight.size() % outputs == 0);
  bias.resize(outputs, 0.0f);
  const std::size_t inputs = weight.size() / outputs;
  for (std::size_t row = 0; row < outputs; ++row) {
    const float scale = by.scale.data[row];
    for (std::size_t i = 0; i < inputs; ++i) weight[row * inputs + i] *= scale;
    bias[row] = scale * bias[row] + by.shift.data[row];
  }
}
void fold(const ScaleShiftViews<const float>& by, VitLinear& layer) {
  fold(by, layer.weight, layer.bias);
}
void fold(const ScaleShiftViews<const float>& by, VitNorm& norm) {
  fold(by, norm.weight, norm.bias);
}

}  // namespace

VitModel fold_ssf(const VitModel& model, const AdaptParameters& ssf) {
  ENGRAM_CHECK(ssf.method == AdaptMethod::ssf);
  VitModel folded = model;
  const AdaptViews<const float> by =
      views_of<const float>(ssf.slices, model.shape.blocks, ssf.values.data());
  fold(by.patch, folded.patch);
  for (std::size_t i = 0; i < folded.blocks.size(); ++i) {
    VitBlock& block = folded.blocks[i];
    fold(by.blocks[i].norm1, block.norm1);
    fold(by.blocks[i].qkv, block.qkv);
    fold(by.blocks[i].proj, block.proj);
    fold(by.blocks[i].norm2, block.norm2);
    fold(by.blocks[i].fc1, block.fc1);
    fold(by.blocks[i].fc2, block.fc2);
  }
  fold(by.norm, folded.norm);
  return folded;
}

}  // namespace engram
