// Leverage h^T (G + lambda I)^-1 h of a frame, from a few random directions.
//
//     probes y_1 .. y_r (M each), independent, with covariance (G + lambda I)^-1
//     leverage of h = mean over r of (y_r . h)^2            unbiased, spread sqrt(2 / r) of itself
//
// A frame costs r M products more, whatever was learned. Low rank instead (the first r eigenvectors
// of G, the rest taken as lambda) was measured beside it: it ranks frames as well, but its values are
// 1.0 to 1.6 times the true ones, and what is compared with a threshold from exact leave-one-out
// leverage must have the right size.
//
// How they are drawn, from signs e (each +1 or -1, by Philox, the same on every machine):
//     dense      y = U^-1 e                                    with UT U = G + lambda I
//     factored   y = e2 / sqrt(lambda) + HT (Kk + lambda I)^-1 (e1 - H e2 / sqrt(lambda))
//                  = (G + lambda I)^-1 (HT e1 + sqrt(lambda) e2)
// They are kept in 16 bits: a probe is nearly orthogonal to what was learned, where h is large, so 8
// would drown the difference.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/chosen_kernels.h"
#include "kernels/leverage.h"
#include "platform/buffer_allocator.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

class Statistics;

struct LeverageProbes {
  SharedVector<float> scales;         // (r)
  SharedVector<std::int16_t> values;  // (r, M), row-major; y = scale * value
  bool operator==(const LeverageProbes&) const = default;
};

// `probes` of them. The factor at lambda is in `statistics`. bad_data: they are not finite.
Result<LeverageProbes> draw_probes(const Statistics& statistics, double lambda,
                                   int probes = kLeverageProbes);

// leverages (B) of h (B, M); products: room for (B, r) floats.
Status leverages_of(const Kernels& kernels, const LeverageProbes& probes, MatrixView<const float> h,
                    float* products, std::span<float> leverages);

}  // namespace engram
