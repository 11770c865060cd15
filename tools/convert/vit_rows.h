// Functions of a row, recognised by what they compute and not by how they are written.
//
// Layer norm, GELU, LayerScale and the scale of attention come as one operation or as ten, in many
// orders. Whatever the pieces, each is a function of one row of a tensor. So a few rows are sent
// through the pieces in double, and what comes out tells the function and its weights:
//
//     affine   y = weight * x + bias                                       value by value
//     norm     y = weight * (x - mean) / sqrt(variance + epsilon) + bias   over the row
//     gelu     y = one of GeluKind's curves                                value by value
//
// Weights come back as the floats that the file holds: they are found to 1e-12 and rounded.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/gelu.h"
#include "tools/convert/vit_graph.h"

namespace engram {

// The rows that are sent in: zeros, ones, noise, other noise, a sweep of -6..6, and the first noise
// made small, which shows epsilon.
enum ProbeRow { kZeros, kOnes, kNoise, kOtherNoise, kSweep, kSmallNoise, kProbeRows };
inline constexpr double kSmallness = 1e-3;

// A tensor's values for the probes at the root: (kProbeRows, width), width 1 after a reduction.
struct RowProbe {
  int width = 0;
  std::vector<double> values;

  const double* row(int number) const { return values.data() + number * width; }
};

RowProbe first_probe(int width);

// One operation on probes (or constants, for operands without a probe). False: not a function of
// rows that is known here. `width` is the root's.
bool probe_operation(const VitNode& node, const std::vector<const RowProbe*>& inputs, int width,
                     RowProbe& result);

enum class RowKind : std::uint8_t { other, affine, norm, gelu };
struct RowFunction {
  RowKind kind = RowKind::other;
  std::vector<float> weight, bias;  // affine, norm
  float epsilon = 0;                // norm
  GeluKind gelu = GeluKind::erf;
};
// From the probes at the root and what became of them.
RowFunction recognise(const RowProbe& sent, const RowProbe& result);

double gelu_curve(GeluKind kind, double x);
struct RowMoments {
  double mean = 0, variance = 0;
};
RowMoments row_moments(const double* row, int width);

}  // namespace engram
