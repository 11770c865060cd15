// Leverage h^T (G + lambda I)^-1 h of a frame, from a few random directions.
//
//     probes y_1 .. y_r (M each), independent, with covariance (G + lambda I)^-1
//     leverage of h = mean over r of (y_r . h)^2            unbiased, spread sqrt(2 / r) of itself
//
// Probes are scored like classes: a frame costs r M products more, whatever was learned. Low rank
// instead (the first r eigenvectors of G, the rest taken as lambda) was measured beside it: it ranks
// frames as well, but its values are 1.0 to 1.6 times the true ones, and what is compared with a
// threshold from exact leave-one-out leverage must have the right size.
//
// How they are drawn, from signs e (each +1 or -1, by Philox, the same on every machine):
//     dense      y = U^-1 e                                    with UT U = G + lambda I
//     factored   y = e2 / sqrt(lambda) + HT (Kk + lambda I)^-1 (e1 - H e2 / sqrt(lambda))
//                  = (G + lambda I)^-1 (HT e1 + sqrt(lambda) e2)
#pragma once

#include <span>

#include "kernels/kernels.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

class FactoredStatistics;

constexpr int kLeverageProbes = 64;

// probes (r, M), written in full. `gram`: with the factor of G + lambda I above the diagonal.
Status dense_probes(const Kernels& kernels, const GramView& gram, MatrixView<float> probes);
// With the factor of Kk + lambda I in the kernel matrix.
Status factored_probes(const Kernels& kernels, const FactoredStatistics& factored, double lambda,
                       MatrixView<float> probes);

// scores (r): products of the probes with h.
float leverage_from(std::span<const float> scores);

}  // namespace engram
