// Several answers from one state: readouts other than ridge, made from the same G, C and counts.
//
// Notation: n_c samples and mean mu_c = C[c] / n_c of class c, N samples and K classes in all,
// S = G - sum over c of n_c mu_c mu_cT the within-class scatter, A = S + ridge I.
//
//   discriminant  Fisher's linear discriminant (RanPAC, appendix B.4), equal priors:
//                     score_c = (N - K) (hT A^-1 mu_c - mu_cT A^-1 mu_c / 2)
//   balanced      ridge regression in which every class weighs the same, however many samples it
//                 has: G' = S + N/K sum mu_c mu_cT, C'[c] = N/K mu_c, Wo = (G' + ridge I)^-1 C'.
//                 With equal n_c it is plain ridge.
//   scaled        the scores of a ridge readout times n_c^-exponent: classes with few samples have
//                 small scores, this raises them again
//   on targets    each class has a vector e_c; regression of e_y on h is Wo E, and its cosine with
//                 e_c orders the classes like the scores times E EnT, En of unit rows. No new solve
//
// Memory. discriminant and balanced factor A into the upper triangle of G's buffer, as
// kernels.cholesky does: G stays, the factor of the last solve does not. Beside that (2K, M) floats.
// Numerics. S is formed inside the factorisation by subtracting K rows from G in float: its error is
// about 1e-7 of G's largest eigenvalue, so ridges below 1e-6 of that mean nothing. Where A has no
// factor, ten times the ridge is tried, and so on; the note says so.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/config.h"
#include "engine/readout.h"
#include "kernels/chosen_kernels.h"
#include "kernels/gram_view.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

class Statistics;

// The dense form, borrowed.
struct ClassStatistics {
  const Kernels& kernels;
  GramView gram;                         // (M, M); the upper triangle is overwritten
  MatrixView<const float> sums;          // (K, M)
  std::span<const std::int64_t> counts;  // (K); a class of 0 samples is never the answer
};

struct LinearReadout {
  std::vector<float> weights;  // (K, M)
  std::vector<float> bias;     // (K), added to the scores
  double ridge = 0;            // that was used
  std::string note;            // empty, or why it is not the one asked for
};

// shrinkage: ridge in units of the mean variance trace(S) / M. invalid_argument: nothing was
// learned. bad_data: no factor for any ridge.
Result<LinearReadout> discriminant_readout(const ClassStatistics& statistics, double shrinkage);
Result<LinearReadout> balanced_readout(const ClassStatistics& statistics, double ridge);

// A readout of kind lda or balanced from either form; `ridge` is for the latter. The factored form
// makes G and C of its samples for the time being (other_readout_bytes of engine/memory_plan.h);
// out_of_memory, before any is taken: so much is not free. The factor is lost.
Result<Readout> statistics_readout(ReadoutKind kind, Statistics& statistics, double ridge);

inline constexpr double kShrinkage = 0.01;
inline constexpr double kCountExponent = 0.75;
// Of a readout of kind ridge.
Readout scaled_readout(const Readout& readout, std::span<const std::int64_t> counts,
                       double exponent = kCountExponent);
// The same. targets (K, D), one row per class of the readout, none of them zero.
Readout readout_on_targets(const Readout& readout, MatrixView<const float> targets);

}  // namespace engram
