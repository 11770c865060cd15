#include "engine/gram_spectrum.h"

#include <cmath>
#include <numeric>

namespace engram {
namespace {

double norm(const std::vector<float>& vector) {
  double sum = 0;
  for (const float value : vector) sum += double(value) * value;
  return std::sqrt(sum);
}

// y = G x from the lower triangle and the diagonal. The factor above is not read: it may be rubbish.
void multiply(const GramView& g, const std::vector<float>& x, std::vector<float>& y) {
  constexpr int kLanes = 16;  // sums that the compiler may keep apart in vector registers
  for (int r = 0; r < g.size; ++r) y[r] = g.diagonal[r] * x[r];
  for (int r = 0; r < g.size; ++r) {
    const float* row = g.row(r);
    const float xr = x[r];
    float sums[kLanes] = {};
    int c = 0;
    for (; c + kLanes <= r; c += kLanes) {
      for (int i = 0; i < kLanes; ++i) {
        sums[i] += row[c + i] * x[c + i];
        y[c + i] += row[c + i] * xr;
      }
    }
    for (; c < r; ++c) {
      sums[0] += row[c] * x[c];
      y[c] += row[c] * xr;
    }
    y[r] += std::accumulate(sums, sums + kLanes, 0.0f);
  }
}

}  // namespace

double trace(const GramView& g) {
  return std::accumulate(g.diagonal, g.diagonal + g.size, 0.0);
}

double largest_eigenvalue(const GramView& g, std::vector<float> x) {
  constexpr int kSteps = 12;
  constexpr double kCloseEnough = 0.01;
  std::vector<float> y(x.size());
  // The diagonal joins in: where samples cancel out (h of both signs) the start may be nothing.
  const double length = norm(x), root = std::sqrt(trace(g));
  for (int m = 0; m < g.size; ++m) {
    x[m] = float((length > 0 ? x[m] / length : 0.0) +
                 (root > 0 ? 0.1 * std::sqrt(g.diagonal[m]) / root : 0.0));
  }
  double value = 0;
  for (int step = 0; step < kSteps; ++step) {
    const double scale = norm(x);
    if (!(scale > 0)) return value;  // nothing was learned, or only zeros
    for (float& entry : x) entry = float(entry / scale);
    multiply(g, x, y);
    const double grown = norm(y);
    std::swap(x, y);
    if (std::abs(grown - value) <= kCloseEnough * grown) return grown;
    value = grown;
  }
  return value;
}

}  // namespace engram
