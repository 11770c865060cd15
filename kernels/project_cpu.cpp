// project on the CPU: a matrix product, then phi. Math and shapes: project.h.
#include "kernels/project.h"

#include <algorithm>

#include "kernels/matrix_product_cpu.h"
#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kGrain = 4096;  // elements of h per piece of work

void apply(Nonlinearity phi, float* h, int count) {
  if (phi == Nonlinearity::relu) {
    for (int i = 0; i < count; ++i) h[i] = h[i] < 0.0f ? 0.0f : h[i];  // NaN stays NaN
  } else if (phi == Nonlinearity::square) {
    for (int i = 0; i < count; ++i) h[i] *= h[i];
  }
}

}  // namespace

Status project(Stream /*stream*/, MatrixView<const float> f, MatrixView<const float> w,
               Nonlinearity phi, MatrixView<float> h) {
  ENGRAM_CHECK(f.cols == w.rows);
  ENGRAM_CHECK(h.rows == f.rows && h.cols == w.cols);
  multiply(1.0f, plain(f), plain(w), 0.0f, h);
  if (phi == Nonlinearity::none || h.cols == 0) return Status();
  const int rows_per_range = std::max(1, kGrain / h.cols);
  parallel_for(h.rows, rows_per_range, [&](int begin, int end) {
    for (int b = begin; b < end; ++b) apply(phi, h.row(b), h.cols);
  });
  return Status();
}

}  // namespace engram::cpu
