#include "engine/lanczos.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "platform/blas.h"
#include "platform/device_staging.h"
#include "platform/threads.h"

namespace engram {
namespace {

constexpr double kNothingLeft = 1e-5;  // of S v: what remains is the rounding of float solves

double dot(const float* a, const float* b, int count) {
  constexpr int kLanes = 8;
  double sums[kLanes] = {};
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) sums[lane] += double(a[i + lane]) * b[i + lane];
  }
  for (; i < count; ++i) sums[0] += double(a[i]) * b[i];
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

void scale(float* values, int count, double factor) {
  for (int i = 0; i < count; ++i) values[i] = float(values[i] * factor);
}

// The tridiagonal matrix of one start vector.
struct Chain {
  std::vector<double> diagonal, beside;
  double length = 0;  // |v|
  bool ended = false;
};

// w = S q becomes what is new in it, with length 1. Both vectors before are orthogonal to it.
void take_step(const float* before, const float* current, float* w, int count, Chain& chain) {
  const double size = std::sqrt(dot(w, w, count));
  const double along = dot(w, current, count);
  const double back = chain.beside.empty() ? 0.0 : chain.beside.back();
  for (int i = 0; i < count; ++i) w[i] = float(w[i] - along * current[i] - back * before[i]);
  // Once more along the current vector: in float the first time is not enough.
  const double rest = dot(w, current, count);
  for (int i = 0; i < count; ++i) w[i] = float(w[i] - rest * current[i]);
  const double fresh = std::sqrt(dot(w, w, count));
  chain.diagonal.push_back(along + rest);
  chain.ended = !(fresh > kNothingLeft * size);
  if (chain.ended) return;
  chain.beside.push_back(fresh);
  scale(w, count, 1.0 / fresh);
}

Result<Quadrature> quadrature(Chain chain, double shift) {
  Quadrature result;
  const int size = int(chain.diagonal.size());
  if (size == 0) return result;
  chain.beside.resize(std::size_t(size));
  std::vector<double> vectors(std::size_t(size) * std::size_t(size)), work(std::size_t(2 * size));
  int info = 0;
  dstev_("V", &size, chain.diagonal.data(), chain.beside.data(), vectors.data(), &size, work.data(),
         &info);
  if (info != 0 || !std::isfinite(chain.length)) {
    return Status(Code::bad_data, "the statistics are not finite");
  }
  const double largest = chain.diagonal.back();
  for (int i = 0; i < size; ++i) {
    // Rounding may push a Ritz value out of (0, 1 / shift].
    const double theta = std::max(chain.diagonal[std::size_t(i)], 1e-12 * largest);
    const double first = vectors[std::size_t(i) * std::size_t(size)];
    result.values.push_back(std::max(0.0, 1.0 / theta - shift));
    result.weights.push_back(first * first * chain.length * chain.length);
  }
  return result;
}

}  // namespace

Result<std::vector<Quadrature>> shifted_lanczos(const Kernels& kernels, GramView gram, double shift,
                                                int steps, MatrixView<float> starts,
                                                MatrixView<float> scratch) {
  ENGRAM_CHECK(starts.cols == gram.size && scratch.cols == gram.size);
  ENGRAM_CHECK(scratch.rows == 2 * starts.rows);
  const int count = starts.rows, units = gram.size;
  std::vector<Chain> chains(static_cast<std::size_t>(count));
  MatrixView<float> current = starts, before = scratch.row_range(0, count),
                    next = scratch.row_range(count, count);
  parallel_for(count, 1, [&](int begin, int end) {
    for (int v = begin; v < end; ++v) {
      Chain& chain = chains[std::size_t(v)];
      chain.length = std::sqrt(dot(starts.row(v), starts.row(v), units));
      chain.ended = !(chain.length > 0);
      std::fill_n(before.row(v), units, 0.0f);
      if (!chain.ended) scale(starts.row(v), units, 1.0 / chain.length);
    }
  });
  for (int step = 0; step < steps; ++step) {
    DeviceHold::let_others();
    for (int v = 0; v < count; ++v) std::copy_n(current.row(v), units, next.row(v));
    ENGRAM_TRY(kernels.cholesky_solve(Stream{}, gram, next));
    parallel_for(count, 1, [&](int begin, int end) {
      for (int v = begin; v < end; ++v) {
        Chain& chain = chains[std::size_t(v)];
        if (!chain.ended) take_step(before.row(v), current.row(v), next.row(v), units, chain);
      }
    });
    std::swap(before, current);  // before: q[j], current: q[j + 1], next: scratch
    std::swap(current, next);
  }
  std::vector<Quadrature> result;
  for (Chain& chain : chains) {
    ENGRAM_ASSIGN(Quadrature rule, quadrature(std::move(chain), shift));
    result.push_back(std::move(rule));
  }
  return result;
}

}  // namespace engram
