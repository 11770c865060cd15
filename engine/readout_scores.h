// Scores of a readout: s = Wo h + Wf f + bias, of hidden units and features of samples.
#pragma once

#include "engine/readout.h"
#include "kernels/chosen_kernels.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

// What the readout adds to every score (B, K) of a class.
void add_bias(const Readout& readout, MatrixView<float> scores);

// Room for some scores of features, before they are added.
inline constexpr int kScoreTileRows = 32, kScoreTileClasses = 128;

// h (B, M), f (B, L), scores (B, K): written in full. A readout without feature weights takes any f.
// tile: room for kScoreTileRows times kScoreTileClasses floats.
Status score_samples(const Kernels& kernels, const Readout& readout, MatrixView<const float> h,
                     MatrixView<const float> f, float* tile, MatrixView<float> scores);

}  // namespace engram
