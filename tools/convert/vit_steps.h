// The steps of an encoder after its pieces are joined: what a Vision Transformer is described in.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/gelu.h"
#include "tools/convert/vit_graph.h"

namespace engram {

enum class VitKind : std::uint8_t {
  other,      // what has no place in a plain Vision Transformer
  picture,    //
  patches,    // a convolution of the picture: `matrix`, `bias`
  linear,     // x wT + b: `matrix`, `by_columns`, `bias`
  norm,       // `weight`, `bias`, `epsilon`
  gelu,       // `gelu`
  affine,     // weight * x + bias of `input`, value by value
  rows,       // some other function of the rows of `input`: a piece
  sum,        // input + other
  shifted,    // input + a constant that is not the same for all rows
  softmax,    // over the last axis
  product,    // input other, matrix by matrix
  attention,  // softmax(scale q kT) v in one operation: inputs as in the graph
  join,       // several along an axis
  move,       // the same values elsewhere
};

struct VitStep {
  VitKind kind = VitKind::other;
  int input = -1, other = -1;  // nodes
  std::vector<float> weight, bias;
  float epsilon = 0;
  GeluKind gelu = GeluKind::erf;
  ConstantTensor matrix;    // patches: (D, 3, p, p); linear: (O, I); shifted: what is added
  bool by_columns = false;  // linear: the matrix is (I, O)
};

// One for each node of the graph.
std::vector<VitStep> join_pieces(const VitGraph& graph);

}  // namespace engram
