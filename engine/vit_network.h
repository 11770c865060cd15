// A plain Vision Transformer with what adapts it: features of pictures, and gradients of what trains.
//
//     forward    pictures (B, 3 image^2) -> features (B, L), the class token behind the final norm
//     backward   gradient of the features -> added to the gradients of the parameters
//
// The backward goes down as far as something trains: adaptformer to the bottleneck of the first block,
// vpt to its prompts, ssf to the scale of the patches. It belongs to the forward before it: the same
// pictures, parameters and dropout.
//
// Numerics. Floats. The bits depend on backend and micro-batch, not on threads, and not on which
// blocks are computed again. Nothing is allocated after construction.
#pragma once

#include <cstdint>

#include "engine/adapt_parameters.h"
#include "engine/vit_block.h"
#include "engine/vit_buffers.h"
#include "engine/vit_model.h"
#include "kernels/chosen_kernels.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

// Which elements of bottlenecks are dropped in a step: by counter, so that a batch has the same mask
// in whatever micro-batches it is computed.
struct StepDropout {
  float rate = 0;
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  int batch = 0;          // most pictures that a step has
  int first_picture = 0;  // of this micro-batch in the step
};

class VitNetwork {
 public:
  // model, kernels and the memory of the buffers must outlive it.
  VitNetwork(const VitModel& model, const Kernels& kernels, const VitBuffers& buffers,
             double branch_scale)
      : model_(model), kernels_(kernels), buffers_(buffers), branch_scale_(float(branch_scale)) {}

  // At most work.pictures rows. With training features must stay as they are until the backward.
  Status forward(MatrixView<const float> pictures, const AdaptViews<const float>& adapt,
                 const StepDropout& dropout, MatrixView<float> features);
  Status backward(MatrixView<const float> dfeatures, const AdaptViews<const float>& adapt,
                  const StepDropout& dropout, const AdaptViews<float>& gradients);

 private:
  VitBlockPass pass(int block, const AdaptViews<const float>& adapt,
                    const StepDropout& dropout) const;
  Status embed(MatrixView<const float> pictures, const AdaptViews<const float>& adapt) const;
  Status embed_back(const AdaptViews<const float>& adapt, const AdaptViews<float>& gradients) const;
  Status run_block(const VitBlockPass& pass, int block) const;
  Status finish(const AdaptViews<const float>& adapt, MatrixView<float> features) const;
  Status finish_back(MatrixView<const float> dfeatures, const AdaptViews<const float>& adapt,
                     const AdaptViews<float>& gradients) const;
  Status last_block_back(const VitBlockPass& pass, const AdaptBlockViews<float>& gradients) const;
  Status block_back(const VitBlockPass& pass, int block,
                    const AdaptBlockViews<float>& gradients) const;

  const VitModel& model_;
  const Kernels& kernels_;
  VitBuffers buffers_;
  float branch_scale_;
  int pictures_ = 0;  // of the last forward
};

}  // namespace engram
