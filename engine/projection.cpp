#include "engine/projection.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>
#include <vector>

#include "engine/feature_check.h"
#include "engine/readout_scores.h"
#include "kernels/kernels.h"
#include "platform/philox.h"
#include "platform/threads.h"

namespace engram {
namespace {

std::pair<float, float> gaussian_pair(std::uint64_t seed, int l, int pair) {
  const PhiloxWords words = philox(
      {std::uint32_t(pair), std::uint32_t(l), 0, std::uint32_t(PhiloxStream::gaussian)}, seed);
  const auto bits53 = [](std::uint32_t low, std::uint32_t high) {
    return (std::uint64_t{high} << 32 | low) >> 11;
  };
  constexpr double kStep = 0x1p-53;
  const double u = double(bits53(words[0], words[1]) + 1) * kStep;  // (0, 1]: its log is finite
  const double v = double(bits53(words[2], words[3])) * kStep;      // [0, 1)
  const double radius = std::sqrt(-2.0 * std::log(u));
  const double angle = 2.0 * std::numbers::pi * v;
  return {float(radius * std::cos(angle)), float(radius * std::sin(angle))};
}

void fill_signs(std::uint64_t seed, int k, std::uint32_t* words, int count) {
  for (int m = 0; m < count; m += 4) {
    const PhiloxWords four = philox(
        {std::uint32_t(m / 4), std::uint32_t(k), 0, std::uint32_t(PhiloxStream::signs)}, seed);
    std::copy_n(four.begin(), std::min(4, count - m), words + m);
  }
}

// Row l of float weights.
void fill_weights(const LearnerConfig& config, int l, float* row) {
  if (config.weights == Weights::gaussian) {
    for (int m = 0; m < config.hidden; m += 2) {
      const auto [first, second] = gaussian_pair(config.seed, l, m / 2);
      row[m] = first;
      if (m + 1 < config.hidden) row[m + 1] = second;
    }
    return;
  }
  for (int m = 0; m < config.hidden; ++m) {
    row[m] = sign_word(config.seed, l / 32, m) >> (l % 32) & 1u ? 1.0f : -1.0f;
  }
}

template <class T>
MatrixView<const T> as_matrix(const std::byte* rows, int count, int width) {
  return {reinterpret_cast<const T*>(rows), count, width, width};
}

}  // namespace

std::uint32_t sign_word(std::uint64_t seed, int k, int m) {
  return philox({std::uint32_t(m / 4), std::uint32_t(k), 0, std::uint32_t(PhiloxStream::signs)},
                seed)[std::size_t(m % 4)];
}

float gaussian_weight(std::uint64_t seed, int l, int m) {
  const auto [first, second] = gaussian_pair(seed, l, m / 2);
  return m % 2 == 0 ? first : second;
}

ProjectionScratch ProjectionScratch::take(const LearnerConfig& config, int rows, Arena& arena) {
  ProjectionScratch scratch;
  if (config.arithmetic == Arithmetic::exact) {
    scratch.q = arena.take_matrix<std::int8_t>(rows, config.features);
    scratch.p = arena.take_matrix<std::int32_t>(rows, config.hidden);
    scratch.not_finite = arena.take_matrix<std::int32_t>(1, rows);
  }
  scratch.h = arena.take_matrix<float>(rows, config.hidden_units());
  if (config.arithmetic == Arithmetic::exact) {
    scratch.f = arena.take_matrix<float>(rows, config.features);
  }
  scratch.products = arena.take_matrix<float>(rows, kLeverageProbes);
  scratch.tile = arena.take<float>(kScoreTileRows * kScoreTileClasses);
  return scratch;
}

std::size_t ProjectionScratch::bytes(const LearnerConfig& config, int rows) {
  const auto count = [&](int cols) { return std::size_t(rows) * std::size_t(cols); };
  const std::size_t h = Arena::bytes_for(count(config.hidden_units()), sizeof(float)) +
                        Arena::bytes_for(count(kLeverageProbes), sizeof(float)) +
                        Arena::bytes_for(kScoreTileRows * kScoreTileClasses, sizeof(float));
  if (config.arithmetic == Arithmetic::floating) return h;
  return Arena::bytes_for(count(config.features), sizeof(std::int8_t)) +
         Arena::bytes_for(count(config.hidden), sizeof(std::int32_t)) +
         Arena::bytes_for(count(1), sizeof(std::int32_t)) + h +
         Arena::bytes_for(count(config.features), sizeof(float));
}

std::size_t Projection::row_bytes(const LearnerConfig& config) {
  return std::size_t(config.features) *
         (config.arithmetic == Arithmetic::exact ? sizeof(std::int8_t) : sizeof(float));
}

Projection::Projection(const LearnerConfig& config, const Kernels& kernels, Arena& arena)
    : config_(config), kernels_(kernels) {
  if (config.hidden == 0) return;
  if (config.arithmetic == Arithmetic::exact) {
    const int word_rows = (config.features + 31) / 32;
    auto* words = arena.take<std::uint32_t>(std::size_t(word_rows) * std::size_t(config.hidden));
    parallel_for(word_rows, 1, [&](int begin, int end) {
      for (int k = begin; k < end; ++k) {
        fill_signs(config.seed, k, words + std::size_t(k) * std::size_t(config.hidden),
                   config.hidden);
      }
    });
    signs_ = {words, config.features, config.hidden};
  } else {
    const MatrixView<float> weights = arena.take_matrix<float>(config.features, config.hidden);
    parallel_for(config.features, 8, [&](int begin, int end) {
      for (int l = begin; l < end; ++l) fill_weights(config, l, weights.row(l));
    });
    weights_ = weights;
  }
}

Status Projection::encode(MatrixView<const float> features, std::byte* rows) const {
  if (config_.arithmetic == Arithmetic::exact) {
    const MatrixView<std::int8_t> q{reinterpret_cast<std::int8_t*>(rows), features.rows,
                                    features.cols, features.cols};
    std::vector<std::int32_t> flags(std::size_t(features.rows));
    const MatrixView<std::int32_t> not_finite{flags.data(), 1, features.rows, features.rows};
    ENGRAM_TRY(kernels_.quantise(Stream{}, features, config_.feature_scale, q, not_finite));
    return check_finite(features, not_finite);
  }
  for (int b = 0; b < features.rows; ++b) {
    std::memcpy(rows + row_bytes() * std::size_t(b), features.row(b), row_bytes());
  }
  return {};
}

Status Projection::from_rows(const std::byte* rows, const ProjectionScratch& scratch,
                             MatrixView<float> h) const {
  if (config_.arithmetic == Arithmetic::floating) {
    return project(as_matrix<float>(rows, h.rows, config_.features), h);
  }
  const MatrixView<std::int32_t> p = scratch.p.row_range(0, h.rows);
  ENGRAM_TRY(kernels_.sign_project(Stream{}, as_matrix<std::int8_t>(rows, h.rows, config_.features),
                                   signs_, p));
  return kernels_.activate(Stream{}, p, config_.hidden_mul, config_.hidden_max, h);
}

MatrixView<const float> Projection::features_of(const std::byte* rows, int count,
                                                const ProjectionScratch& scratch) const {
  if (config_.arithmetic == Arithmetic::floating) {
    return as_matrix<float>(rows, count, config_.features);
  }
  const MatrixView<float> f = scratch.f.row_range(0, count);
  for (int b = 0; b < count; ++b) {
    widen_row(config_, rows + row_bytes() * std::size_t(b), f.row(b));
  }
  return f;
}

Status Projection::from_features(MatrixView<const float> features, const ProjectionScratch& scratch,
                                 MatrixView<float> h) const {
  if (config_.arithmetic == Arithmetic::floating) return project(features, h);
  const MatrixView<std::int8_t> q = scratch.q.row_range(0, features.rows);
  ENGRAM_TRY(kernels_.quantise(Stream{}, features, config_.feature_scale, q,
                               {scratch.not_finite.data, 1, features.rows, features.rows}));
  return from_rows(reinterpret_cast<const std::byte*>(q.data), scratch, h);
}

Status Projection::project(MatrixView<const float> features, MatrixView<float> h) const {
  if (config_.hidden != 0) {
    return kernels_.project(Stream{}, features, weights_, config_.nonlinearity, h);
  }
  for (int b = 0; b < h.rows; ++b) {
    std::copy_n(features.row(b), config_.features, h.row(b));
  }
  return {};
}

void widen_row(const LearnerConfig& config, const std::byte* row, float* features) {
  if (config.arithmetic == Arithmetic::floating) {
    std::memcpy(features, row, Projection::row_bytes(config));
    return;
  }
  const auto* q = reinterpret_cast<const std::int8_t*>(row);
  for (int l = 0; l < config.features; ++l) features[l] = float(q[l]);
}

}  // namespace engram
