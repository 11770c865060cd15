#include "engine/score_blend.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "platform/threads.h"

namespace engram {
namespace {

constexpr double kMeanWeight = 2.0;

constexpr int kBlock = 512;  // units at a time: a block of all sums stays in the cache

}  // namespace

double squared_length(const float* values, int count) {
  constexpr int kLanes = 8;
  double sums[kLanes] = {};
  for (int i = 0; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      sums[lane] += double(values[i + lane]) * values[i + lane];
    }
  }
  for (int i = count / kLanes * kLanes; i < count; ++i) sums[0] += double(values[i]) * values[i];
  return std::accumulate(sums, sums + kLanes, 0.0);
}

namespace {

// Calls row(k, first, count, u, common) for every class and block of units: u C[k] - common is
// w (u_k - mean of all u) there.
template <class Row>
void for_each_block(const ScoreBlend& blend, MatrixView<const float> sums,
                    MatrixView<float> weights, const Row& row) {
  const int classes = weights.rows, units = weights.cols;
  ENGRAM_CHECK(blend.mean == 0 || (sums.rows == classes && sums.cols == units));
  std::vector<float> means(static_cast<std::size_t>(classes));
  if (blend.mean > 0) {
    parallel_for(classes, 8, [&](int begin, int end) {
      for (int k = begin; k < end; ++k) {
        const double norm = std::sqrt(squared_length(sums.row(k), units));
        if (norm > 0) means[std::size_t(k)] = float(blend.mean / norm);
      }
    });
  }
  const auto present = std::count_if(means.begin(), means.end(), [](float u) { return u > 0; });
  parallel_for((units + kBlock - 1) / kBlock, 1, [&](int begin, int end) {
    for (int first = begin * kBlock; first < std::min(end * kBlock, units); first += kBlock) {
      const int count = std::min(kBlock, units - first);
      float common[kBlock] = {};
      for (int k = 0; k < classes; ++k) {
        const float share = means[std::size_t(k)] / float(std::max<std::ptrdiff_t>(present, 1));
        if (share == 0) continue;
        const float* sum = sums.row(k) + first;
        for (int m = 0; m < count; ++m) common[m] += share * sum[m];
      }
      for (int k = 0; k < classes; ++k) row(k, first, count, means[std::size_t(k)], common);
    }
  });
}

float ridge_factor(const ScoreBlend& blend, int k) {
  return blend.ridge.empty() ? 1.0f : blend.ridge[std::size_t(k)];
}

}  // namespace

ScoreBlend score_blend(ReadoutKind kind, std::span<const ClassInfo> classes, double trace) {
  double samples = 0, present = 0, inverses = 0;
  for (const ClassInfo& one : classes) {
    if (one.samples == 0) continue;
    samples += double(one.samples);
    inverses += 1.0 / double(one.samples);
    ++present;
  }
  ScoreBlend blend;
  if (kind == ReadoutKind::ridge || !(trace > 0) || !std::isfinite(trace)) return blend;
  const double usual_length = std::sqrt(trace / samples);
  if (kind == ReadoutKind::mean) {
    blend.ridge.assign(classes.size(), 0.0f);
    blend.mean = 1.0 / usual_length;
    return blend;
  }
  for (const ClassInfo& one : classes) {
    const double count = double(std::max<std::int64_t>(one.samples, 1));
    blend.ridge.push_back(float(std::sqrt(samples / present / count)));
  }
  blend.mean = kMeanWeight * inverses / present / usual_length;
  return blend;
}

void blend_readout(const ScoreBlend& blend, MatrixView<const float> ridge,
                   MatrixView<const float> sums, MatrixView<float> weights) {
  ENGRAM_CHECK(ridge.rows == weights.rows && ridge.cols == weights.cols);
  const auto mix = [&](int k, int first, int count, float u, const float* common) {
    const float a = ridge_factor(blend, k);
    const float* from = ridge.row(k) + first;
    float* to = weights.row(k) + first;
    for (int m = 0; m < count; ++m) to[m] = a * from[m];
    if (u == 0) return;
    const float* sum = sums.row(k) + first;
    for (int m = 0; m < count; ++m) to[m] += u * sum[m] - common[m];
  };
  for_each_block(blend, sums, weights, mix);
}

void blend_scores(const ScoreBlend& blend, std::span<const double> products,
                  std::span<const double> lengths, std::span<float> scores) {
  double sum = 0, present = 0;
  for (std::size_t k = 0; k < scores.size() && blend.mean > 0; ++k) {
    if (!(lengths[k] > 0)) continue;
    sum += blend.mean * products[k] / lengths[k];
    ++present;
  }
  for (std::size_t k = 0; k < scores.size(); ++k) {
    scores[k] *= ridge_factor(blend, int(k));
    if (blend.mean > 0 && lengths[k] > 0) {
      scores[k] += float(blend.mean * products[k] / lengths[k] - sum / present);
    }
  }
}

void unblend_readout(const ScoreBlend& blend, MatrixView<const float> sums,
                     MatrixView<float> weights) {
  const auto separate = [&](int k, int first, int count, float u, const float* common) {
    const float a = ridge_factor(blend, k);
    float* to = weights.row(k) + first;
    if (u != 0) {
      const float* sum = sums.row(k) + first;
      for (int m = 0; m < count; ++m) to[m] -= u * sum[m] - common[m];
    }
    for (int m = 0; m < count; ++m) to[m] /= a;
  };
  for_each_block(blend, sums, weights, separate);
}

}  // namespace engram
