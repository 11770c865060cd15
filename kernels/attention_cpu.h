// What attention and attention_back share on the CPU: how the work is cut, and the passes over scores.
//
// A piece of work is a head of a picture. It goes through blocks of query rows whose scores with all
// keys stay in the second-level cache, between products by OpenBLAS in one thread. Rows of scores lie at
// multiples of kLanes; what is between a row's end and the next is computed with, and not used.
#pragma once

#include <algorithm>

#include "kernels/attention.h"

namespace engram::cpu {

// Floats of a block on the stack: 128 KiB.
inline constexpr int kAttentionScores = 1 << 15;
inline constexpr int kAttentionRows = 128;  // of queries in a block, at most

struct AttentionBlocks {
  explicit AttentionBlocks(int tokens);
  int stride;  // of a row of scores
  int rows;    // of queries in a block
};

// The matrices of a head of a picture: q, k and v, rows `qkv.stride` apart.
struct AttentionHead {
  AttentionHead(MatrixView<const float> qkv, int tokens, int heads, int index);
  const float *q, *k, *v;
  int stride, width;  // width: of a head
  int top;            // first row of the picture
  int left;           // first column of the head in a matrix of width D
};

// Softmax without its last division: scores become exp(score - largest), and what a row adds up to and
// log(sum) + largest are written.
void softmax_rows(MatrixView<float> scores, float* sums, float* logsums);

// scores become p = exp(score - logsum), and products become p (product - inner[row]).
void softmax_gradient_rows(MatrixView<float> scores, const float* logsums, const float* inner,
                           MatrixView<float> products);

}  // namespace engram::cpu
