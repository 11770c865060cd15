#include "engine/vit_network.h"

#include "engine/vit_views.h"
#include "kernels/kernels.h"

namespace engram {

VitBlockPass VitNetwork::pass(int block, const AdaptViews<const float>& adapt,
                              const StepDropout& dropout) const {
  const VitWork& work = buffers_.work();
  const auto tokens = std::uint64_t(work.tokens()), rank = std::uint64_t(work.rank);
  const bool is_last = block == work.whole_blocks();
  const std::uint64_t before =
      (dropout.step * std::uint64_t(work.shape.blocks) + std::uint64_t(block)) *
      std::uint64_t(dropout.batch) * tokens * rank;
  const std::uint64_t rows = std::uint64_t(dropout.first_picture) * (is_last ? 1 : tokens);
  return {.kernels = kernels_,
          .shape = work.shape,
          .scratch = buffers_.scratch(),
          .tokens = work.tokens(),
          .branch_scale = branch_scale_,
          .weights = model_.blocks[std::size_t(block)],
          .adapt = adapt.blocks[std::size_t(block)],
          .dropout = {dropout.rate, dropout.seed, before + rows * rank}};
}

Status VitNetwork::forward(MatrixView<const float> pictures, const AdaptViews<const float>& adapt,
                           const StepDropout& dropout, MatrixView<float> features) {
  ENGRAM_CHECK(pictures.rows > 0 && pictures.rows <= buffers_.work().pictures);
  ENGRAM_CHECK(features.rows == pictures.rows && features.cols == model_.shape.features);
  pictures_ = pictures.rows;
  ENGRAM_TRY(embed(pictures, adapt));
  for (int block = 0; block < model_.shape.blocks; ++block) {
    const VitBlockPass step = pass(block, adapt, dropout);
    if (step.adapt.prompts.rows > 0) {
      ENGRAM_TRY(kernels_.set_tokens(Stream{}, step.adapt.prompts, model_.shape.tokens(),
                                     step.tokens, buffers_.input(block, pictures_)));
    }
    ENGRAM_TRY(run_block(step, block));
  }
  return finish(adapt, features);
}

Status VitNetwork::run_block(const VitBlockPass& pass, int block) const {
  const MatrixView<float> x = buffers_.input(block, pictures_);
  const VitActivations kept = buffers_.activations(block, pictures_);
  ENGRAM_TRY(pass.attend(x, kept));
  if (block < buffers_.work().whole_blocks()) {
    return pass.mix(kept.attended, x, kept, buffers_.input(block + 1, pictures_));
  }
  return pass.mix(class_rows(kept.attended, pass.tokens), class_rows(x, pass.tokens), kept,
                  buffers_.last.row_range(0, pictures_));
}

Status VitNetwork::embed(MatrixView<const float> pictures,
                         const AdaptViews<const float>& adapt) const {
  const VitShape& shape = model_.shape;
  const int patches = pictures_ * shape.patches(), d = shape.width;
  const int pixels = 3 * shape.patch * shape.patch;
  const MatrixView<float> rows = buffers_.scratch().wide.as(patches, pixels);
  const MatrixView<float> e = buffers_.scratch().branch.as(patches, d);
  const MatrixView<float> plain =
      buffers_.embedded.rows > 0 ? buffers_.embedded.row_range(0, patches) : e;
  ENGRAM_TRY(kernels_.patches(Stream{}, pictures, shape.image, shape.patch, rows));
  ENGRAM_TRY(kernels_.linear(Stream{}, rows, weight_of(model_.patch, pixels),
                             row_of(model_.patch.bias), plain));
  if (adapt.patch.scale.rows > 0) {
    ENGRAM_TRY(kernels_.scale_shift(Stream{}, plain, adapt.patch.scale, adapt.patch.shift, e));
  }
  const int tokens = buffers_.work().tokens();
  const MatrixView<float> x = buffers_.input(0, pictures_);
  const MatrixView<float> sums =
      model_.input_norm ? buffers_.before_norm.row_range(0, pictures_ * tokens) : x;
  ENGRAM_TRY(kernels_.embed_tokens(Stream{}, e, {model_.prefix.data(), shape.prefix, d, d},
                                   {model_.positions.data(), shape.tokens(), d, d}, tokens, sums));
  if (!model_.input_norm) return {};
  return kernels_.layer_norm(Stream{}, sums, row_of(model_.input_norm->weight),
                             row_of(model_.input_norm->bias), shape.epsilon, x,
                             buffers_.input_stats.row_range(0, x.rows));
}

Status VitNetwork::finish(const AdaptViews<const float>& adapt, MatrixView<float> features) const {
  const bool is_scaled = adapt.norm.scale.rows > 0, has_projection = model_.projection.has_value();
  MatrixView<float> n =
      is_scaled || has_projection ? buffers_.normed.row_range(0, pictures_) : features;
  ENGRAM_TRY(kernels_.layer_norm(Stream{}, buffers_.last.row_range(0, pictures_),
                                 row_of(model_.norm.weight), row_of(model_.norm.bias),
                                 model_.shape.epsilon, n,
                                 buffers_.final_stats.row_range(0, pictures_)));
  if (is_scaled) {
    const MatrixView<float> scaled =
        has_projection ? buffers_.scaled_normed.row_range(0, pictures_) : features;
    ENGRAM_TRY(kernels_.scale_shift(Stream{}, n, adapt.norm.scale, adapt.norm.shift, scaled));
    n = scaled;
  }
  if (!has_projection) return {};
  return kernels_.linear(Stream{}, n, weight_of(*model_.projection, model_.shape.width),
                         row_of(model_.projection->bias), features);
}

}  // namespace engram
