// What Phase 1 trains: one flat vector of floats and the named matrices in it.
//
//   adaptformer   blocks.I.down.weight (r,D)   blocks.I.down.bias (1,r)
//                 blocks.I.up.weight (D,r)     blocks.I.up.bias (1,D)
//                     x = x + scale2 MLP(norm2(x)) + s up(dropout(relu(down(x))))
//   ssf           patch.scale|shift (1,D)   norm.scale|shift (1,D)
//                 blocks.I.{norm1,qkv,proj,norm2,fc1,fc2}.scale|shift (1, outputs)
//                     y = scale y + shift, right after the operation, before LayerScale and gelu
//   vpt           blocks.I.prompts (p,D): rows at the end of the sequence of block I alone
//   all           head.weight (K,L), head.sigma (1,1): the cosine head, thrown away after training
//
// Every matrix begins at a multiple of 64 bytes. What lies between is zero and stays so in a step
// of SGD, which therefore is one operation on the whole vector. Gradients and velocities have the
// same layout. Head matrices come last: what belongs to the adapted model is a prefix (body_size).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/adapt_settings.h"
#include "engine/vit_model.h"
#include "platform/buffer_allocator.h"
#include "platform/matrix_view.h"

namespace engram {

struct AdaptSlice {
  std::string name;
  int rows = 0, cols = 0;
  std::size_t offset = 0;  // in floats
};

struct AdaptParameters {
  AdaptMethod method = AdaptMethod::adaptformer;
  double branch_scale = 0.1;       // s
  std::vector<AdaptSlice> slices;  // by offset
  std::size_t body_size = 0;       // floats before the head
  BufferVector<float> values;

  // Floats of `values`, without taking them.
  static std::size_t count(const VitShape& shape, const AdaptSettings& settings, int classes);
  // All zeros. classes 0: without a head.
  static AdaptParameters zeros(const VitShape& shape, const AdaptSettings& settings, int classes);
  // Where training starts, by Philox from settings.seed: down uniform in +-1/sqrt(D), scales
  // N(1, start_noise), shifts N(0, start_noise), head.weight uniform in +-1/sqrt(L), sigma 1, the rest zero.
  static AdaptParameters start(const VitShape& shape, const AdaptSettings& settings, int classes);

  // rows == 0: there is none of this name.
  MatrixView<float> slice(std::string_view name);
  MatrixView<const float> slice(std::string_view name) const;
};

// The same matrices by member, for computing. Those that the method has not have no rows.
template <class T>
struct ScaleShiftViews {
  MatrixView<T> scale, shift;
};
template <class T>
struct AdaptBlockViews {
  MatrixView<T> down_weight, down_bias, up_weight, up_bias;
  ScaleShiftViews<T> norm1, qkv, proj, norm2, fc1, fc2;
  MatrixView<T> prompts;
};
template <class T>
struct AdaptViews {
  ScaleShiftViews<T> patch, norm;
  std::vector<AdaptBlockViews<T>> blocks;
  MatrixView<T> head_weight, head_sigma;
};
// Of a vector `values` in the layout of `slices`: parameters (const float) or gradients (float).
template <class T>
AdaptViews<T> views_of(const std::vector<AdaptSlice>& slices, int blocks, T* values);

}  // namespace engram
