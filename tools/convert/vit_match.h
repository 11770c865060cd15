// What the parts of the recogniser share: walking back through a graph, and taking weights from it.
// Private to vit_read.cpp, vit_embedding.cpp, vit_blocks.cpp, vit_attention.cpp and vit_heads.cpp.
//
// The graph is of one picture, so a tensor of tokens is (T, D) whatever axes of size 1 it has, and
// its order of values is that of the tokens.
#pragma once

#include <string>
#include <vector>

#include "engine/vit_model.h"
#include "platform/status.h"
#include "tools/convert/vit_graph.h"
#include "tools/convert/vit_steps.h"

namespace engram {

// How a tensor comes from another by moving values and scaling them.
struct VitPath {
  int node = -1;                      // the first on the way back that does something else
  std::vector<std::int32_t> sources;  // where each value comes from; empty: all, in order
  double scale = 1;
  std::vector<float> channels;  // LayerScale on the way; empty: none
};

class VitMatch {
 public:
  VitMatch(VitGraph graph, std::vector<VitStep> steps)
      : graph_(std::move(graph)), steps_(std::move(steps)) {}

  const VitGraph& graph() const { return graph_; }
  const VitNode& node(int number) const { return graph_.nodes[static_cast<std::size_t>(number)]; }
  const VitStep& step(int number) const { return steps_[static_cast<std::size_t>(number)]; }
  int size() const { return static_cast<int>(steps_.size()); }

  Result<VitPath> back(int number);
  // The node that `number` is, in order, all of, without a scale; -1: it is not.
  Result<int> same_as(int number);
  // Counts against what matching may cost.
  Status spend(std::int64_t values) { return budget_.take(values); }
  // "an operation Relu": what stands where something else should.
  std::string what_is(int number) const;

  VitLinear linear(int number) const;
  // Weight (row, column) of a linear step, as (O, I).
  float weight(const VitStep& linear, std::int64_t row, std::int64_t column) const;
  static std::int64_t rows_of(const VitStep& linear) {
    return linear.matrix->dims[linear.by_columns ? 1 : 0];
  }
  static std::int64_t columns_of(const VitStep& linear) {
    return linear.matrix->dims[linear.by_columns ? 0 : 1];
  }

 private:
  VitGraph graph_;
  std::vector<VitStep> steps_;
  WorkBudget budget_;
};

BufferVector<float> buffer(const std::vector<float>& values);
Status not_plain(const std::string& why);                       // not_supported
Result<VitNorm> norm_of(const VitStep& norm, VitShape& shape);  // and its epsilon, once for all

// The patches, prefix and positions that make the tensor `tokens`, into the model and its shape.
Status match_embedding(VitMatch& match, int tokens, VitModel& model);
// All blocks and CLIP's norm before them, beginning at `tokens`, which becomes the tensor behind the
// last block.
Status match_blocks(VitMatch& match, int& tokens, VitModel& model);
// The attention whose output goes into the linear step `proj`, of `normed`'s rows.
struct AttentionParts {
  int normed = -1;  // the norm that it reads
  VitLinear qkv, proj;
};
Result<AttentionParts> match_attention(VitMatch& match, int proj, VitShape& shape);

}  // namespace engram
