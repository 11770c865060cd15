// Generalised cross-validation in the dense form, where the samples are gone: from G, C and N alone.
//
//     A = G + lambda I,   df = tr(G A^-1),   RSS = N - tr(Ct A^-1 (G + 2 lambda I) A^-1 C)
//     GCV(lambda) = (RSS / N) / (1 - 1.05 df / N)^2 / K
//
// which is leave-one-out with every sample's leverage replaced by the mean one, and that a little
// larger. Without the 1.05 it fails while N < M: on features of photos (100 classes, M 2 000 and
// 10 000, N 300 to 1 900) the plain one takes the smallest lambda there is in six cases of eight and
// loses up to 3 points. 1.05 was chosen on these cases, as the nearest to leave-one-out among 1.05 to
// 1.4: that it agrees with it there to 0.2 points is no evidence for other data.
//
// How. GCV around one lambda0 comes from one factor and a few solves (engine/gcv_curve.h). Where to begin
// is asked of a quarter and of a half of the hidden units first, whose sums are the leading blocks of G
// and C: what lambda / (tr(G) / N) does from the one to the other goes on to all of them. Mostly lambda0
// is then as good as the best to 4e-4 of the loss, and its factor serves the readout. If not, one more
// factor is made at the best; if that lies further away than the quadratures are good for, it is the next
// lambda0: the minimum that is found is the nearest to the first one.
//
// Cost. 1.15 factorisations of G, and solves with 4 K + 160 right-hand sides, 6 / M of one each: measured
// with the readout's solve and K 100, 1.7 in all at M 10 000 (N 2 000 and 9 000) and 2.8 to 3.2 at M 3 000;
// one more where lambda0 is not good enough. With few hidden units and N far below M (M 4 000, N 800) the
// random vectors say too little of df, and the trace of the inverse is computed: as dear as a factor.
// Memory 12 (K + 24) M bytes, with M < 2 000 12 (K + 64) M.
//
// Numerics. Float solves, everything else in double. The loss is within 1e-3 of that of the best lambda:
// tests compare it with brute force, and on features of photos (M 400 to 3 000, N / M 0.2 to 1.4, 10 and 100
// classes) 4e-4 was the most.
#pragma once

#include <cstdint>

#include "engine/lambda_rule.h"
#include "kernels/chosen_kernels.h"
#include "kernels/gram_view.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

inline constexpr double kFreedomWeight = 1.05;

struct GcvProblem {
  const Kernels& kernels;
  GramView gram;                  // (M, M); its upper triangle is written
  MatrixView<const float> sums;   // (K, M): C
  std::int64_t samples = 0;       // N
  double largest_eigenvalue = 0;  // of G, to a few percent: no lambda below 1e-6 of it is chosen
};

// The lambda with the smallest GCV, on a grid of eighty values a decade. `factored`: the upper
// triangle holds the factor at this lambda. Where there is nothing to choose by (no sample, only
// zeros, not finite, no factor), a defined lambda and a note.
Result<LambdaChoice> choose_by_gcv(const GcvProblem& problem);

}  // namespace engram
