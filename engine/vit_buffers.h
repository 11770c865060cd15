// Memory of a Vision Transformer's forward and backward for a micro-batch, taken once.
//
// What a block's backward needs of its forward is either kept, or computed again from the block's
// input, which is kept always. Blocks that are computed again share one set of these matrices; they
// are the last ones before the last block, so that the set holds the activations of the first of
// them that the backward meets. Of the last block only the class token matters behind attention:
// there its matrices have a row for each picture, not for each token.
//
//   B pictures, S tokens of each (prompts included), R = B S, D width, F hidden, H heads, r rank
#pragma once

#include <optional>

#include "engine/adapt_settings.h"
#include "engine/buffer_list.h"
#include "engine/vit_model.h"

namespace engram {

// What the buffers are sized by.
struct VitWork {
  VitShape shape;
  bool has_input_norm = false;
  std::optional<AdaptMethod> method;  // none: the model as it is
  int rank = 0, prompts = 0;
  int pictures = 1;     // at once
  bool trains = false;  // a backward follows
  int recomputed = 0;   // blocks whose activations are computed again; 0 .. blocks - 2

  // settings null: the model as it is.
  static VitWork of(const VitShape& shape, bool has_input_norm, const AdaptSettings* settings,
                    int pictures);
  bool is(AdaptMethod which) const { return method == which; }
  int tokens() const { return shape.tokens() + (is(AdaptMethod::vpt) ? prompts : 0); }
  int whole_blocks() const { return shape.blocks - 1; }  // all but the last
  int sets() const;                                      // of activations of whole blocks
  int set_of(int block) const;
  bool is_recomputed(int block) const {
    return block < whole_blocks() - 1 && set_of(block + 1) == set_of(block);
  }
};

// What the forward of a block leaves. `rows` is R, and B in the last block.
struct VitActivations {
  MatrixView<float> stats1;      // (R, 2)      of norm1
  MatrixView<float> qkv;         // (R, 3D)     ssf: before its scale
  MatrixView<float> attended;    // (R, D)
  MatrixView<float> logsums;     // (B H, S)
  MatrixView<float> projected;   // (rows, D)   ssf: proj before its scale
  MatrixView<float> middle;      // (rows, D)   the stream behind attention
  MatrixView<float> stats2;      // (rows, 2)   of norm2
  MatrixView<float> hidden;      // (rows, F)   fc1; ssf: before its scale
  MatrixView<float> output;      // (rows, D)   ssf: fc2 before its scale
  MatrixView<float> bottleneck;  // (rows, r)   adaptformer: behind relu and dropout
};

// Room that every step of every block uses anew, as a matrix of whatever shape it has then.
struct ScratchRoom {
  float* data = nullptr;
  std::size_t count = 0;

  MatrixView<float> as(int rows, int cols) const {
    ENGRAM_CHECK(std::size_t(rows) * std::size_t(cols) <= count);
    return {data, rows, cols, cols};
  }
};

struct VitScratch {
  ScratchRoom narrow;   // (R, D)
  ScratchRoom branch;   // (R, D)
  ScratchRoom wide;     // (R, max(F, 3D)), or the pixels of all patches
  ScratchRoom scaled;   // (R, max(F, 3D))   ssf
  ScratchRoom squeeze;  // (R, r)            adaptformer, backward
};

class VitBuffers {
 public:
  VitBuffers(const VitWork& work, BufferList& list);

  const VitWork& work() const { return work_; }
  const VitScratch& scratch() const { return scratch_; }
  // Of the first `pictures` of the micro-batch.
  MatrixView<float> input(int block, int pictures) const;  // (R, D), of a block
  VitActivations activations(int block, int pictures) const;

  // Patch embedding and what is around: rows for all pictures.
  MatrixView<float> embedded;        // (B patches, D)   ssf: before its scale
  MatrixView<float> before_norm;     // (R, D)           with an input norm: what it is of
  MatrixView<float> input_stats;     // (R, 2)
  MatrixView<float> last;            // (B, D)           class tokens behind the last block
  MatrixView<float> final_stats;     // (B, 2)
  MatrixView<float> normed;          // (B, D)           final norm; ssf: before its scale
  MatrixView<float> scaled_normed;   // (B, D)           ssf
  MatrixView<float> dx;              // (R, D)           gradient of the stream
  MatrixView<float> dlast;           // (B, D)           the same of class tokens
  MatrixView<float> dlast_attended;  // (R, D)           zero but for class tokens

 private:
  void take_activations(BufferList& list);

  VitWork work_;
  VitScratch scratch_;
  MatrixView<float> inputs_;    // (blocks R, D); without training two of them in turn
  VitActivations sets_, last_;  // sets_: all sets, one below the other
};

}  // namespace engram
