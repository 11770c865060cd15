// What a function of rows is, from what it makes of the probes (vit_rows.h).
#include <algorithm>
#include <cmath>

#include "platform/finite.h"
#include "tools/convert/vit_rows.h"

namespace engram {

namespace {

// Constants of models in half precision move a curve by 1e-4; erf's and tanh's are 5e-4 apart.
constexpr double kCurveError = 2e-4;

bool close(double found, double expected) {
  return std::fabs(found - expected) <= 1e-7 * (1 + std::fabs(expected));
}

bool is_affine(const RowProbe& sent, const RowProbe& result, RowFunction& function) {
  std::vector<float> weight, bias;
  for (int i = 0; i < sent.width; ++i) {
    const double shift = result.row(kZeros)[i], scale = result.row(kOnes)[i] - shift;
    for (const int row : {kNoise, kOtherNoise, kSweep, kSmallNoise}) {
      if (!close(result.row(row)[i], scale * sent.row(row)[i] + shift)) return false;
    }
    weight.push_back(static_cast<float>(scale));
    bias.push_back(static_cast<float>(shift));
  }
  function.kind = RowKind::affine;
  function.weight = std::move(weight);
  function.bias = std::move(bias);
  return true;
}

bool is_gelu(const RowProbe& sent, const RowProbe& result, RowFunction& function) {
  double best = kCurveError;
  for (const GeluKind kind : {GeluKind::erf, GeluKind::tanh, GeluKind::quick, GeluKind::relu}) {
    double error = 0;
    for (const int row : {kZeros, kOnes, kNoise, kOtherNoise, kSweep, kSmallNoise}) {
      for (int i = 0; i < sent.width; ++i) {
        error = std::max(error, std::fabs(result.row(row)[i] - gelu_curve(kind, sent.row(row)[i])));
      }
    }
    if (error >= best) continue;
    best = error;
    function.kind = RowKind::gelu;
    function.gelu = kind;
  }
  return function.kind == RowKind::gelu;
}

// Epsilon from how much the small row falls short of the large one, which is the same but for its
// size s: with variance v the ratio r of what comes out has r^2 = s^2 (v + e) / (s^2 v + e).
double epsilon_of(const RowProbe& sent, const RowProbe& result) {
  double large = 0, small = 0;
  for (int i = 0; i < sent.width; ++i) {
    large += std::fabs(result.row(kNoise)[i] - result.row(kZeros)[i]);
    small += std::fabs(result.row(kSmallNoise)[i] - result.row(kZeros)[i]);
  }
  const double s2 = kSmallness * kSmallness, v = row_moments(sent.row(kNoise), sent.width).variance;
  const double r2 = large > 0 ? small / large * (small / large) : 0;
  return r2 > s2 && r2 < 1 ? s2 * v * (1 - r2) / (r2 - s2) : 0;
}

bool is_norm(const RowProbe& sent, const RowProbe& result, RowFunction& function) {
  const double epsilon = epsilon_of(sent, result);
  if (!(epsilon > 0 && epsilon < 0.1)) return false;
  RowMoments of[kProbeRows];
  for (int row = 0; row < kProbeRows; ++row) of[row] = row_moments(sent.row(row), sent.width);
  const auto normal = [&](int row, int i) {
    return (sent.row(row)[i] - of[row].mean) / std::sqrt(of[row].variance + epsilon);
  };
  std::vector<float> weight, bias;
  for (int i = 0; i < sent.width; ++i) {
    int clearest = kNoise;  // a value near the mean tells little about the weight
    for (const int row : {kOtherNoise, kSweep}) {
      if (std::fabs(normal(row, i)) > std::fabs(normal(clearest, i))) clearest = row;
    }
    const double shift = result.row(kZeros)[i];
    const double scale = (result.row(clearest)[i] - shift) / normal(clearest, i);
    for (const int row : {kOnes, kNoise, kOtherNoise, kSweep, kSmallNoise}) {
      if (!close(result.row(row)[i], scale * normal(row, i) + shift)) return false;
    }
    weight.push_back(static_cast<float>(scale));
    bias.push_back(static_cast<float>(shift));
  }
  function.kind = RowKind::norm;
  function.weight = std::move(weight);
  function.bias = std::move(bias);
  function.epsilon = static_cast<float>(epsilon);
  return true;
}

}  // namespace

double gelu_curve(GeluKind kind, double x) {
  switch (kind) {
    case GeluKind::erf:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case GeluKind::tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case GeluKind::quick:
      return x / (1 + std::exp(-1.702 * x));
    case GeluKind::relu:
      break;
  }
  return std::max(x, 0.0);
}

RowMoments row_moments(const double* row, int width) {
  RowMoments of;
  for (int i = 0; i < width; ++i) of.mean += row[i] / width;
  for (int i = 0; i < width; ++i) of.variance += (row[i] - of.mean) * (row[i] - of.mean) / width;
  return of;
}

RowFunction recognise(const RowProbe& sent, const RowProbe& result) {
  RowFunction function;
  if (!are_finite(result.values) || result.width != sent.width || sent.width < 2) return function;
  if (is_affine(sent, result, function)) return function;
  if (is_gelu(sent, result, function)) return function;
  (void)is_norm(sent, result, function);
  return function;
}

}  // namespace engram
