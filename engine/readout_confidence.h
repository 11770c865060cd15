// What a new readout needs to judge: its confidence and, where they help, probes of leverage.
//
// Factored form: examples from leave-one-out and leave-class-out (engine/novelty.h). The table of
// false alarms is of up to kTableSamples samples, each left out of everything that was learned:
//     P = (Kk + lambda I)^-1,  column i by the factor;  ridge scores y_i - (P Y)_i / P_ii
// which become scores of the readout's blend (engine/left_out_means.h).
// Dense form: the examples so far, which are what readouts said of samples before those were learned
// (engine/prequential.h), those that the factored form left behind, and samples of the last task, each
// left out (engine/witnesses.h); of these the newer ones. Fewer than kFewestExamples known ones: the
// confidence of the readout before. Fewer unknown ones: known things' table alone.
//
// Nothing of this can fail a solve: where it does not work out, the readout judges by the usual beta
// and calls nothing unknown. Deterministic: the same samples in the same order give the same bits.
#pragma once

#include <span>

#include "engine/prequential.h"
#include "engine/readout.h"
#include "engine/score_blend.h"
#include "engine/statistics.h"

namespace engram {

constexpr int kTableSamples = 256;
constexpr int kFewestExamples = 20;

// `readout` was just solved and is of that blend, and the factor at its lambda is in `statistics`.
// said_before: the examples so far; those that count from now on are the readout's. heard: of the
// dense form, the last task's samples left out. before: null or the readout that it follows. May
// throw std::bad_alloc.
void fit_readout_confidence(const Statistics& statistics, const Prequential& said_before,
                            std::span<const ScoreSummary> heard, const Readout* before,
                            const ScoreBlend& blend, Readout& readout);

}  // namespace engram
