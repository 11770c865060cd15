#include "engine/score_blend.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "platform/threads.h"

namespace engram {
namespace {

constexpr double kMeanWeight = 2.0;

template <class Value>
double sum_of_squares(const Value* values, int count) {
  constexpr int kLanes = 8;
  double sums[kLanes] = {};
  for (int i = 0; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      sums[lane] += double(values[i + lane]) * double(values[i + lane]);
    }
  }
  for (int i = count / kLanes * kLanes; i < count; ++i) {
    sums[0] += double(values[i]) * double(values[i]);
  }
  return std::accumulate(sums, sums + kLanes, 0.0);
}

}  // namespace

double squared_length(const float* values, int count) {
  return sum_of_squares(values, count);
}
double squared_length(const double* values, int count) {
  return sum_of_squares(values, count);
}

ScoreBlend score_blend(ReadoutKind kind, std::span<const ClassInfo> classes, double usual_length) {
  double samples = 0, present = 0, inverses = 0;
  for (const ClassInfo& one : classes) {
    if (one.samples == 0) continue;
    samples += double(one.samples);
    inverses += 1.0 / double(one.samples);
    ++present;
  }
  ScoreBlend blend;
  if (kind == ReadoutKind::ridge || present == 0) return blend;
  const bool directed = usual_length > 0;
  if (kind == ReadoutKind::mean) {
    if (!directed) return blend;
    blend.ridge.assign(classes.size(), 0.0f);
    blend.mean = 1.0 / usual_length;
    return blend;
  }
  for (const ClassInfo& one : classes) {
    const double count = double(std::max<std::int64_t>(one.samples, 1));
    blend.ridge.push_back(float(std::sqrt(samples / present / count)));
  }
  if (directed) blend.mean = kMeanWeight * inverses / present / usual_length;
  return blend;
}

void scale_ridge(const ScoreBlend& blend, MatrixView<float> weights) {
  if (blend.ridge.empty()) return;
  ENGRAM_CHECK(blend.ridge.size() >= std::size_t(weights.rows));
  parallel_for(weights.rows, 4, [&](int begin, int end) {
    for (int k = begin; k < end; ++k) {
      const float a = blend.ridge[std::size_t(k)];
      float* row = weights.row(k);
      for (int m = 0; m < weights.cols; ++m) row[m] *= a;
    }
  });
}

void write_mean_weights(const ScoreBlend& blend, MatrixView<const double> sums,
                        SharedVector<float>& weights) {
  if (blend.mean == 0) return weights.clear();
  const int classes = sums.rows, width = sums.cols;
  std::vector<double> units(static_cast<std::size_t>(classes));  // w / (|F[k]| r)
  parallel_for(classes, 8, [&](int begin, int end) {
    for (int k = begin; k < end; ++k) {
      const double length = std::sqrt(squared_length(sums.row(k), width));
      if (length > 0) units[std::size_t(k)] = blend.mean / length;
    }
  });
  const double present =
      double(std::count_if(units.begin(), units.end(), [](double unit) { return unit > 0; }));
  weights.resize(std::size_t(classes) * std::size_t(width));
  constexpr int kBlock = 128;  // features at a time: a block of all sums stays in the cache
  parallel_for((width + kBlock - 1) / kBlock, 1, [&](int begin, int end) {
    for (int first = begin * kBlock; first < std::min(end * kBlock, width); first += kBlock) {
      const int count = std::min(kBlock, width - first);
      double common[kBlock] = {};
      for (int k = 0; k < classes; ++k) {
        const double share = units[std::size_t(k)] / present;
        for (int l = 0; l < count; ++l) common[l] += share * sums(k, first + l);
      }
      for (int k = 0; k < classes; ++k) {
        const double unit = units[std::size_t(k)];
        float* row = weights.data() + std::size_t(k) * std::size_t(width) + first;
        for (int l = 0; l < count; ++l) {
          row[l] = unit == 0 ? 0.0F : float(unit * sums(k, first + l) - common[l]);
        }
      }
    }
  });
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
    if (!blend.ridge.empty()) scores[k] *= blend.ridge[k];
    if (blend.mean > 0 && lengths[k] > 0) {
      scores[k] += float(blend.mean * products[k] / lengths[k] - sum / present);
    }
  }
}

}  // namespace engram
