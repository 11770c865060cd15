// How much memory Phase 1 takes, row by row, before it takes any, and how it makes do with less.
//
// Memory goes with the micro-batch and with the blocks that keep their activations for the backward.
// A smaller micro-batch costs little time as long as it has a thousand tokens; computing a block
// again costs a third of its time. So the micro-batch shrinks first, down to kFewTokens tokens, then
// blocks are computed again, one more at a time, and in the end the micro-batch shrinks to one
// picture.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/adapt_parameters.h"
#include "engine/adapt_settings.h"
#include "engine/cosine_head.h"
#include "engine/memory_plan.h"
#include "engine/vit_buffers.h"

namespace engram {

// What the plan needs to know of a model.
struct VitFacts {
  VitShape shape;
  bool has_input_norm = false;
  std::int64_t weight_bytes = 0;

  static VitFacts of(const VitModel& model);
  static VitFacts of(const VitShape& shape);  // of a model as in timm: no LayerScale, no projection
};

// Tokens of a micro-batch where nobody says how many pictures: more make it no quicker, and half of
// them cost 3 % (bench_adapt).
inline constexpr int kManyTokens = 2048, kFewTokens = 1024;

struct AdaptPlan {
  int micro_batch = 0;
  int recomputed = 0;
  std::vector<PlannedBuffer> buffers;
  std::int64_t arena_bytes = 0;  // of them in the arena: all but the first three

  std::int64_t total() const;
  VitWork work(const VitFacts& facts, const AdaptSettings& settings) const;
};

// With settings.micro_batch and settings.recomputed_blocks as they are where they are given. The
// settings must be valid. out_of_memory: nothing fits, and what would.
Result<AdaptPlan> plan_adaptation(const VitFacts& facts, const AdaptSettings& settings, int classes,
                                  std::int64_t budget);

// Everything in the arena of a training.
struct AdaptBuffers {
  AdaptBuffers(const VitWork& work, std::size_t parameters, int classes, BufferList& list);

  VitBuffers vit;
  HeadBuffers head;
  int picture_size;                                // floats of an input tensor
  MatrixView<float> gradients, velocities;         // (1, n): as the parameters
  MatrixView<float> good_values, good_velocities;  // (1, n): when the last epoch ended
};

}  // namespace engram
