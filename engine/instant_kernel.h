// Learning at once, factored form: a readout that knows the samples just learned.
//
// n samples are in the readout and in the factor, p more are in the kernel. With
//     X (p, N) = the last p rows of (Kk + lambda I)^-1
//     E (p, K) = Y - Hp Wo                what the readout says of the new ones, and should
// the readout of all N at the same lambda is, exactly,
//     Wo (K, M) += ET X H
// because X H is orthogonal to what was learned before, up to lambda.
//
// Cost. n^2 p operations for the factor, N^2 p / 2 for X, 2 N p M for X H, 2 p K M for the rest. Never
// more than a full solve: there is nothing to refactor for. Up to 4 samples the readout is read and
// written once, however it is blended.
//
// Numerics. Float, with the errors of a full solve in float or smaller ones: E is taken from the
// readout as it is, so that errors do not add up over calls. From 1e-2 of the kernel's mean diagonal
// on, scores are within 1e-4 of those in double; a lambda of 1e-4 of it costs a digit.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "engine/score_blend.h"
#include "kernels/chosen_kernels.h"
#include "kernels/gram_view.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

struct InstantKernel {
  const Kernels& kernels;
  double lambda = 0;  // of the factor and the readout
  GramView kernel;    // (N, N); the factor of the first `known` samples, which is extended to N
  int known = 0;      // n
  // sums (p, M) += weights (p, N) H.
  std::function<Status(MatrixView<const float> weights, MatrixView<float> sums)> combine;
};

// A readout whose rows are the ridge solution's times a_k of its blend, and the next one.
struct InstantReadout {
  MatrixView<const float> before;  // (K0, M)
  const ScoreBlend& blend;         // of it; no a is 0
  MatrixView<float> after;         // (K, M), K >= K0: written in full; may be `before` itself
  const ScoreBlend& next_blend;
};

// fresh (p, M): hidden units of the samples n..N-1; classes (p): of each, 0..K-1. bad_data: the larger
// kernel has no factor at this lambda; the readout and the first n columns of the factor are as they
// were.
Status learn_at_once(const InstantKernel& problem, MatrixView<const float> fresh,
                     std::span<const std::int32_t> classes, const InstantReadout& readout);

}  // namespace engram
