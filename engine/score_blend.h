// What scores are made of: ridge regression and nearest class means, in one matrix.
//
//     Wo[k] = a_k Ridge[k] + w (u_k - mean of all u),   u_k = C[k] / (|C[k]| r)
//
// Ridge (K, M) is the solution of engine/readout.h, C (K, M) the class sums, r the usual length of
// h (r^2 = trace G / N): h . u_k is the cosine between h and the mean of class k, times |h| / r. With
// n_k samples of class k, n = N / K:
//
//   kind    a_k             w                  meaning
//   blend   sqrt(n / n_k)   2 mean of 1/n_k    the default
//   ridge   1               0                  RanPAC as published
//   mean    0               1                  nearest class mean by cosine
//
// Why. With one photo of each class ridge regression has nothing to tell noise by and the nearest mean
// is the best there is; with many it is the other way round, and w fades as they come. Classes with few
// samples get small ridge scores; a_k raises them again. It needs counts and sums only, so it is the
// same in both forms, for any order and split of tasks, and costs a frame nothing.
//
// Measured (EfficientNet-Lite0, TinyViT and DINOv2 on Caltech-101, PACS; 1 to 30 photos a class and long
// tails): factors of 1 to 4 instead of 2, and weights fitted to leave-one-out scores instead, are within
// half a point or worse. On long tails of PACS an exponent of 1/2 beats 0.75 by up to 4 points and 1 by
// up to 15; on those of Caltech-101 0.75 is up to 1.2 better.
#pragma once

#include <span>
#include <vector>

#include "engine/class_list.h"
#include "engine/config.h"
#include "platform/matrix_view.h"

namespace engram {

struct ScoreBlend {
  std::vector<float> ridge;  // (K): a; empty: 1 for all
  double mean = 0;           // w / r

  bool plain() const { return ridge.empty() && mean == 0; }  // ridge alone
};

// kind: one of the table. trace: of G, or of the kernel matrix. Where it is zero or not finite, there
// are no directions to compare: ridge alone.
ScoreBlend score_blend(ReadoutKind kind, std::span<const ClassInfo> classes, double trace);

// ridge, sums, weights (K, M); a class whose sum is zero has no mean. `weights` may be `ridge`.
void blend_readout(const ScoreBlend& blend, MatrixView<const float> ridge,
                   MatrixView<const float> sums, MatrixView<float> weights);
// The way back, to float rounding: `weights`, made with these sums, becomes Ridge. No a may be 0.
void unblend_readout(const ScoreBlend& blend, MatrixView<const float> sums,
                     MatrixView<float> weights);

// Ridge scores (K) of one h become scores of the blend. products: h . C[k]; lengths: |C[k]|, 0: there
// is no mean.
void blend_scores(const ScoreBlend& blend, std::span<const double> products,
                  std::span<const double> lengths, std::span<float> scores);

double squared_length(const float* values, int count);

}  // namespace engram
