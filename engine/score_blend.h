// What scores are made of: ridge regression on hidden units and nearest class means of features.
//
//     s_k = h . (a_k Ridge[k]) + f . w (u_k - mean of all u),   u_k = F[k] / (|F[k]| r)
//
// Ridge (K, M) is the solution of engine/readout.h, F (K, L) the class sums of the features f and r
// their usual length (engine/feature_sums.h): f . u_k is the cosine between f and the mean of class
// k, times |f| / r. With n_k samples of class k, n = N / K:
//
//   kind    a_k             w                  meaning
//   blend   sqrt(n / n_k)   2 mean of 1/n_k    the default
//   ridge   1               0                  RanPAC as published
//   mean    0               1                  nearest class mean by cosine
//
// Why. With one photo of each class ridge regression has nothing to tell noise by and the nearest mean
// is the best there is; with many it is the other way round, and w fades as they come. Means are of
// the features themselves because a random projection blurs them: with one photo a class and M 2 000
// means of h were 0.5 to 2 points worse. Classes with few samples get small ridge scores; a_k raises
// them again. It needs counts and sums only, so it is the same in both forms, for any order and split
// of tasks; a frame costs K L operations more.
//
// Measured (EfficientNet-Lite0, TinyViT and DINOv2 on Caltech-101, PACS; 1 to 30 photos a class and long
// tails): factors of 1 to 4 instead of 2, means in both spaces, features centred first, and weights
// fitted to leave-one-out scores are within half a point or worse. Ridge on h and f together would
// gain up to 1.7 points at M 2 000 and 0.9 at 10 000, both on PACS, but needs (M + L)^2 sums. On long tails of PACS
// an exponent of 1/2 beats 0.75 by up to 4 points and 1 by up to 15; on those of Caltech-101 0.75 is
// up to 1.2 better.
#pragma once

#include <span>
#include <vector>

#include "engine/class_list.h"
#include "engine/config.h"
#include "platform/buffer_allocator.h"
#include "platform/matrix_view.h"

namespace engram {

struct ScoreBlend {
  std::vector<float> ridge;  // (K): a; empty: 1 for all
  double mean = 0;           // w / r

  bool plain() const { return ridge.empty() && mean == 0; }  // ridge alone
};

// kind: one of the table. usual_length: r. Where it is 0 there are no means to compare with: w is 0,
// and kind mean becomes ridge.
ScoreBlend score_blend(ReadoutKind kind, std::span<const ClassInfo> classes, double usual_length);

// The ridge part: weights (K, M) times a_k.
void scale_ridge(const ScoreBlend& blend, MatrixView<float> weights);
// The mean part (K, L) of sums (K, L), in the memory that `weights` has: whatever was there goes. A class
// whose sum is zero has no mean. Empty: w is 0.
void write_mean_weights(const ScoreBlend& blend, MatrixView<const double> sums,
                        SharedVector<float>& weights);

// Ridge scores (K) of one sample become scores of the blend. products: f . F[k]; lengths: |F[k]|, 0:
// there is no mean.
void blend_scores(const ScoreBlend& blend, std::span<const double> products,
                  std::span<const double> lengths, std::span<float> scores);

double squared_length(const float* values, int count);
double squared_length(const double* values, int count);

}  // namespace engram
