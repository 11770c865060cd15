#include "engine/vit_buffers.h"

#include <algorithm>

namespace engram {
namespace {

// Rows [first, first + count) of a matrix that may not be there.
MatrixView<float> part(MatrixView<float> all, int first, int count) {
  return all.rows == 0 ? all : all.row_range(first, count);
}

ScratchRoom room(BufferList& list, const char* name, int rows, int cols) {
  const MatrixView<float> view = list.take(name, rows, cols);
  return {view.data, std::size_t(view.rows) * std::size_t(view.cols)};
}

}  // namespace

VitWork VitWork::of(const VitShape& shape, bool has_input_norm, const AdaptSettings* settings,
                    int pictures) {
  VitWork work;
  work.shape = shape;
  work.has_input_norm = has_input_norm;
  work.pictures = pictures;
  if (settings == nullptr) return work;
  work.method = settings->method;
  work.rank = work.is(AdaptMethod::adaptformer) ? settings->rank : 0;
  work.prompts = work.is(AdaptMethod::vpt) ? settings->prompts : 0;
  return work;
}

int VitWork::sets() const {
  if (!trains) return std::min(whole_blocks(), 1);
  return whole_blocks() - recomputed;
}

int VitWork::set_of(int block) const {
  return std::min(block, sets() - 1);
}

VitBuffers::VitBuffers(const VitWork& work, BufferList& list) : work_(work) {
  ENGRAM_CHECK(work.pictures > 0 && work.recomputed >= 0);
  ENGRAM_CHECK(work.recomputed == 0 || work.recomputed < work.whole_blocks());
  const VitShape& shape = work.shape;
  const int b = work.pictures, rows = b * work.tokens(), d = shape.width;
  const int patch_pixels = 3 * shape.patch * shape.patch;
  const bool is_ssf = work.is(AdaptMethod::ssf);
  inputs_ = list.take("inputs of blocks", (work.trains ? shape.blocks : 2) * rows, d);
  take_activations(list);
  const int wide = std::max(shape.hidden, 3 * d);
  const std::int64_t pixels = std::int64_t{b} * shape.patches() * patch_pixels;
  const int wide_rows = std::max(rows, int((pixels + wide - 1) / wide));
  scratch_.narrow = room(list, "a matrix of the stream", rows, d);
  scratch_.branch = room(list, "a branch", rows, d);
  scratch_.wide = room(list, "a wide matrix", wide_rows, wide);
  if (is_ssf && work.trains) {
    scratch_.scaled = room(list, "a wide matrix, scaled", rows, wide);
    embedded = list.take("patches, before their scale", b * shape.patches(), d);
  }
  if (work.has_input_norm) {
    before_norm = list.take("tokens before their norm", rows, d);
    input_stats = list.take("its means and deviations", rows, 2);
  }
  last = list.take("class tokens", b, d);
  final_stats = list.take("their means and deviations", b, 2);
  normed = list.take("class tokens, normed", b, d);
  if (is_ssf) scaled_normed = list.take("class tokens, normed and scaled", b, d);
  if (!work.trains) return;
  scratch_.squeeze = room(list, "gradient in the bottleneck", rows, work.rank);
  dx = list.take("gradient of the stream", rows, d);
  dlast = list.take("gradient of class tokens", b, d);
  dlast_attended = list.take("gradient of the last attention", rows, d);
}

void VitBuffers::take_activations(BufferList& list) {
  const VitShape& shape = work_.shape;
  const int b = work_.pictures, tokens = work_.tokens(), rows = b * tokens, sets = work_.sets();
  const int d = shape.width, f = shape.hidden;
  const bool is_ssf = work_.is(AdaptMethod::ssf);
  const int scaled = is_ssf && work_.trains ? d : 0;
  const bool has_bottleneck = work_.is(AdaptMethod::adaptformer);
  const int rank = has_bottleneck ? work_.rank : 0;
  sets_ = {list.take("means and deviations of norm1", sets * rows, 2),
           list.take("q, k and v", sets * rows, 3 * d),
           list.take("attended", sets * rows, d),
           list.take("logarithms of sums of attention", sets * b * shape.heads, tokens),
           list.take("projected, before its scale", sets * rows, scaled),
           list.take("the stream behind attention", sets * rows, d),
           list.take("means and deviations of norm2", sets * rows, 2),
           list.take("hidden units of MLPs", sets * rows, f),
           list.take("output of MLPs, before its scale", sets * rows, scaled),
           list.take("bottlenecks", sets * rows, rank)};
  last_ = {list.take("last block: means and deviations of norm1", rows, 2),
           list.take("last block: q, k and v", rows, 3 * d),
           list.take("last block: attended", rows, d),
           list.take("last block: logarithms of sums", b * shape.heads, tokens),
           list.take("last block: projected, before its scale", b, scaled),
           list.take("last block: the stream behind attention", b, d),
           list.take("last block: means and deviations of norm2", b, 2),
           list.take("last block: hidden units", b, f),
           list.take("last block: output, before its scale", b, scaled),
           list.take("last block: bottleneck", b, rank)};
}

MatrixView<float> VitBuffers::input(int block, int pictures) const {
  const int rows = work_.pictures * work_.tokens();
  const int place = work_.trains ? block : block % 2;
  return inputs_.row_range(place * rows, pictures * work_.tokens());
}

VitActivations VitBuffers::activations(int block, int pictures) const {
  const int tokens = work_.tokens(), heads = work_.shape.heads;
  const bool is_last = block == work_.whole_blocks();
  const VitActivations& all = is_last ? last_ : sets_;
  const int set = is_last ? 0 : work_.set_of(block);
  const int first = set * work_.pictures * tokens, rows = pictures * tokens;
  const int later_rows = is_last ? pictures : rows;
  return {part(all.stats1, first, rows),
          part(all.qkv, first, rows),
          part(all.attended, first, rows),
          part(all.logsums, set * work_.pictures * heads, pictures * heads),
          part(all.projected, first, later_rows),
          part(all.middle, first, later_rows),
          part(all.stats2, first, later_rows),
          part(all.hidden, first, later_rows),
          part(all.output, first, later_rows),
          part(all.bottleneck, first, later_rows)};
}

}  // namespace engram
