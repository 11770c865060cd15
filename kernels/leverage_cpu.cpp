// leverage on the CPU: a few probes at a time made floats, for a matrix product. Math and shapes:
// leverage.h.
#include "kernels/leverage.h"

#include <algorithm>

#include "kernels/matrix_product_cpu.h"

namespace engram::cpu {
namespace {

constexpr int kProbes = 4;       // made floats at once
constexpr int kUnits = 1 << 14;  // of each, 256 KiB in all

}  // namespace

Status leverage(Stream /*stream*/, MatrixView<const float> h, MatrixView<const std::int16_t> probes,
                MatrixView<const float> scales, MatrixView<float> products,
                MatrixView<float> leverages) {
  ENGRAM_CHECK(h.cols == probes.cols && scales.rows == 1 && scales.cols == probes.rows);
  ENGRAM_CHECK(products.rows == h.rows && products.cols == probes.rows);
  ENGRAM_CHECK(leverages.rows == 1 && leverages.cols == h.rows);
  float tile[kProbes * kUnits];
  for (int r = 0; r < probes.rows; r += kProbes) {
    const int count = std::min(kProbes, probes.rows - r);
    const MatrixView<float> to{products.data + r, h.rows, count, products.stride};
    for (int first = 0; first == 0 || first < h.cols; first += kUnits) {
      const int units = std::min(kUnits, h.cols - first);
      for (int i = 0; i < count; ++i) {
        const std::int16_t* const from = probes.row(r + i) + first;
        for (int m = 0; m < units; ++m) tile[i * units + m] = float(from[m]);
      }
      multiply(1.0f, plain({h.data + first, h.rows, units, h.stride}),
               turned({tile, count, units, units}), first == 0 ? 0.0f : 1.0f, to);
    }
  }
  for (int b = 0; b < h.rows; ++b) {
    float sum = 0;
    for (int r = 0; r < probes.rows; ++r) {
      const float product = products(b, r) *= scales(0, r);
      sum += product * product;
    }
    leverages(0, b) = probes.rows == 0 ? 0.0f : sum / float(probes.rows);
  }
  return Status();
}

}  // namespace engram::cpu
