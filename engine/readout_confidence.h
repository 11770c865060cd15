// What a new readout needs to judge: its confidence and, where they help, probes of leverage.
//
// Factored form: examples from leave-one-out and leave-class-out (engine/novelty.h). The table of
// false alarms is of up to kTableSamples samples, each left out of everything that was learned:
//     P = (Kk + lambda I)^-1,  column i by the factor;  s_i = y_i - (P Y)_i / P_ii
// Dense form: what readouts said of samples before those were learned (engine/prequential.h), once
// there are kFewestExamples of each kind; until then the confidence of the readout before, which a
// learner that came from the factored form has.
//
// Nothing of this can fail a solve: where it does not work out, the readout judges by the usual beta
// and calls nothing unknown. Deterministic: the same samples in the same order give the same bits.
#pragma once

#include "engine/prequential.h"
#include "engine/readout.h"
#include "engine/statistics.h"

namespace engram {

constexpr int kTableSamples = 256;
constexpr int kFewestExamples = 20;

// `readout` was just solved, and the factor at its lambda is in `statistics`. before: null or the
// readout that it follows. May throw std::bad_alloc.
void fit_readout_confidence(const Statistics& statistics, const Prequential& said_before,
                            const Readout* before, Readout& readout);

}  // namespace engram
