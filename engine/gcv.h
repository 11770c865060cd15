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
// How. One factor at lambda0, a part of tr(G) / N: there lambda is found with photos. Then a few
// Lanczos steps with S = (G + lambda0 I)^-1 from some start vectors v give Gauss quadratures: nodes
// d and weights w with vT f(G) v = sum of w f(d), for every function f at once, so that GCV is known
// on a fine grid for nothing. S brings the eigenvalues that matter near lambda0 apart: within a
// decade of lambda0 eight steps leave 1e-4. If the best lambda lies further away, it is the
// next lambda0: the minimum that is found is the nearest to the first one.
//     start vectors   for RSS the rows of C (above 128 of them: 128 random sums of rows);
//                     for df 32 random vectors of +-1, or all unit vectors up to M 512
// Random means seeded: the same for the same G, C and N. Classes are taken in an order of their own
// sums, not in that in which they were learned.
//
// While N < M, N - df is a small difference. Where the quadratures tell G's N directions from the M - N
// empty ones, the probes are measured within the former; where they do not (N near M, or repeated
// samples), the trace of (G + lambda0 I)^-1 is computed, and the probes tell differences from it.
//
// Cost. One factorisation and 8 solves with K + 32 right-hand sides; one more factorisation at the
// lambda that was chosen, unless lambda0 is as good to 5e-4; that trace costs as much as one, too.
// Memory 12 (K + 32) M bytes.
//
// Numerics. Float solves, everything else in double. The quadratures leave 1e-4 of RSS and df; the
// random vectors, which all lambdas share, leave 1 to 4 % of N - df, nearly the same for all of them.
#pragma once

#include <cstdint>

#include "engine/lambda_rule.h"
#include "kernels/kernels.h"
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

// The lambda with the smallest GCV, on a grid of twenty values a decade. `factored`: the upper
// triangle holds the factor at this lambda. Where there is nothing to choose by (no sample, only
// zeros, not finite, no factor), a defined lambda and a note.
Result<LambdaChoice> choose_by_gcv(const GcvProblem& problem);

}  // namespace engram
