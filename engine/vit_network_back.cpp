#include "engine/vit_network.h"
#include "engine/vit_views.h"
#include "kernels/kernels.h"

namespace engram {

Status VitNetwork::backward(MatrixView<const float> dfeatures, const AdaptViews<const float>& adapt,
                            const StepDropout& dropout, const AdaptViews<float>& gradients) {
  const VitWork& work = buffers_.work();
  ENGRAM_CHECK(work.trains && dfeatures.rows == pictures_);
  ENGRAM_TRY(finish_back(dfeatures, adapt, gradients));
  const int last = work.whole_blocks();
  ENGRAM_TRY(last_block_back(pass(last, adapt, dropout), gradients.blocks[std::size_t(last)]));
  for (int block = last - 1; block >= 0; --block) {
    const VitBlockPass step = pass(block, adapt, dropout);
    ENGRAM_TRY(block_back(step, block, gradients.blocks[std::size_t(block)]));
  }
  return gradients.patch.scale.rows > 0 ? embed_back(adapt, gradients) : Status();
}

Status VitNetwork::finish_back(MatrixView<const float> dfeatures,
                               const AdaptViews<const float>& adapt,
                               const AdaptViews<float>& gradients) const {
  const MatrixView<float> narrow = buffers_.scratch().narrow.as(pictures_, model_.shape.width);
  MatrixView<const float> dn = dfeatures;
  if (model_.projection) {
    ENGRAM_TRY(kernels_.linear_back(Stream{}, dn, weight_of(*model_.projection, narrow.cols),
                                    /*add=*/false, narrow));
    dn = narrow;
  }
  if (adapt.norm.scale.rows > 0) {
    ENGRAM_TRY(kernels_.scale_shift_back(Stream{}, dn, buffers_.normed.row_range(0, pictures_),
                                         adapt.norm.scale, narrow, gradients.norm.scale,
                                         gradients.norm.shift));
    dn = narrow;
  }
  return kernels_.layer_norm_back(Stream{}, dn, buffers_.last.row_range(0, pictures_),
                                  row_of(model_.norm.weight),
                                  buffers_.final_stats.row_range(0, pictures_), /*add=*/false,
                                  buffers_.dlast.row_range(0, pictures_));
}

Status VitNetwork::last_block_back(const VitBlockPass& pass,
                                   const AdaptBlockViews<float>& gradients) const {
  const int last = buffers_.work().whole_blocks(), rows = pictures_ * pass.tokens;
  const VitActivations kept = buffers_.activations(last, pictures_);
  const MatrixView<float> dlast = buffers_.dlast.row_range(0, pictures_);
  if (last == 0 && gradients.down_weight.rows > 0) {
    return pass.bottleneck_gradients(dlast, kept, gradients);
  }
  const MatrixView<float> dattended = buffers_.dlast_attended.row_range(0, rows);
  const MatrixView<float> dx = buffers_.dx.row_range(0, rows);
  ENGRAM_TRY(pass.mix_back(kept, gradients, dlast, class_rows(dattended, pass.tokens)));
  ENGRAM_TRY(pass.attend_back(buffers_.input(last, pictures_), kept, dattended, gradients,
                              /*add=*/false, dx));
  const MatrixView<float> dclass = class_rows(dx, pass.tokens);
  ENGRAM_TRY(kernels_.add_scaled(Stream{}, dclass, dlast, {}, 1.0f, dclass));
  if (gradients.prompts.rows == 0) return {};
  return kernels_.sum_tokens(Stream{}, model_.shape.tokens(), pass.tokens, dx, gradients.prompts);
}

Status VitNetwork::block_back(const VitBlockPass& pass, int block,
                              const AdaptBlockViews<float>& gradients) const {
  const MatrixView<float> x = buffers_.input(block, pictures_);
  const MatrixView<float> dx = buffers_.dx.row_range(0, x.rows);
  const VitActivations kept = buffers_.activations(block, pictures_);
  if (buffers_.work().is_recomputed(block)) {
    ENGRAM_TRY(pass.attend(x, kept));
    ENGRAM_TRY(pass.mix(kept.attended, x, kept, {}));
  }
  if (block == 0 && gradients.down_weight.rows > 0) {
    return pass.bottleneck_gradients(dx, kept, gradients);
  }
  const MatrixView<float> dattended = buffers_.scratch().narrow.as(x.rows, x.cols);
  ENGRAM_TRY(pass.mix_back(kept, gradients, dx, dattended));
  ENGRAM_TRY(pass.attend_back(x, kept, dattended, gradients, /*add=*/true, dx));
  if (gradients.prompts.rows == 0) return {};
  return kernels_.sum_tokens(Stream{}, model_.shape.tokens(), pass.tokens, dx, gradients.prompts);
}

Status VitNetwork::embed_back(const AdaptViews<const float>& adapt,
                              const AdaptViews<float>& gradients) const {
  const VitShape& shape = model_.shape;
  const int tokens = buffers_.work().tokens(), rows = pictures_ * tokens;
  MatrixView<float> dx = buffers_.dx.row_range(0, rows);
  if (model_.input_norm) {
    const MatrixView<float> before = buffers_.scratch().narrow.as(rows, shape.width);
    ENGRAM_TRY(kernels_.layer_norm_back(
        Stream{}, dx, buffers_.before_norm.row_range(0, rows), row_of(model_.input_norm->weight),
        buffers_.input_stats.row_range(0, rows), /*add=*/false, before));
    dx = before;
  }
  for (int picture = 0; picture < pictures_; ++picture) {
    const MatrixView<float> de = dx.row_range(picture * tokens + shape.prefix, shape.patches());
    const int first = picture * shape.patches();
    ENGRAM_TRY(kernels_.scale_shift_back(
        Stream{}, de, buffers_.embedded.row_range(first, shape.patches()), adapt.patch.scale, de,
        gradients.patch.scale, gradients.patch.shift));
  }
  return {};
}

}  // namespace engram
