#include "engine/lanczos.h"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.h"
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

}  // namespace

// w = S q becomes what is new in it, with length 1. Both vectors before are orthogonal to it.
void ShiftedLanczos::take_step(const float* before, const float* current, float* w, int count,
                               Chain& chain) {
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

ShiftedLanczos::ShiftedLanczos(const Kernels& kernels, GramView gram, double shift,
                               MatrixView<float> starts, MatrixView<float> scratch)
    : kernels_(kernels),
      gram_(gram),
      shift_(shift),
      vectors_{starts, scratch.row_range(0, starts.rows),
               scratch.row_range(starts.rows, starts.rows)},
      chains_(std::size_t(starts.rows)) {
  ENGRAM_CHECK(starts.cols == gram.size && scratch.cols == gram.size);
  ENGRAM_CHECK(scratch.rows == 2 * starts.rows);
  parallel_for(starts.rows, 1, [&](int begin, int end) {
    for (int v = begin; v < end; ++v) {
      Chain& chain = chains_[std::size_t(v)];
      chain.length = std::sqrt(dot(starts.row(v), starts.row(v), starts.cols));
      chain.ended = !(chain.length > 0);
      std::fill_n(vectors_[2].row(v), starts.cols, 0.0f);
      if (!chain.ended) scale(starts.row(v), starts.cols, 1.0 / chain.length);
    }
  });
}

Status ShiftedLanczos::advance(int first, int count, int steps) {
  const int units = gram_.size;
  for (int v = 0; v < count && steps > 0; ++v) {  // what parallel_for runs must not throw
    Chain& chain = chains_[std::size_t(first + v)];
    chain.diagonal.reserve(std::size_t(chain.steps + steps));
    chain.beside.reserve(std::size_t(chain.steps + steps));
  }
  for (int more = 0; more < steps && count > 0; ++more) {
    DeviceHold::let_others();
    const int taken = this->steps(first);
    const MatrixView<float> current = vectors_[taken % 3].row_range(first, count),
                            next = vectors_[(taken + 1) % 3].row_range(first, count),
                            before = vectors_[(taken + 2) % 3].row_range(first, count);
    for (int v = 0; v < count; ++v) std::copy_n(current.row(v), units, next.row(v));
    ENGRAM_TRY(kernels_.cholesky_solve(Stream{}, gram_, next));
    parallel_for(count, 1, [&](int begin, int end) {
      for (int v = begin; v < end; ++v) {
        Chain& chain = chains_[std::size_t(first + v)];
        if (!chain.ended) take_step(before.row(v), current.row(v), next.row(v), units, chain);
        ++chain.steps;
      }
    });
  }
  return {};
}

Result<Quadrature> ShiftedLanczos::quadrature(int vector) const {
  Chain chain = chains_[std::size_t(vector)];
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
    result.values.push_back(std::max(0.0, 1.0 / theta - shift_));
    result.weights.push_back(first * first * chain.length * chain.length);
  }
  return result;
}

}  // namespace engram
