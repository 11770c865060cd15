// project on the CPU: OpenBLAS for the product, then phi. Math and shapes: project.h.
#include "kernels/project.h"

#include <algorithm>

#include "platform/blas.h"
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
  if (h.rows == 0 || h.cols == 0) return Status();

  if (f.cols == 0) {
    for (int b = 0; b < h.rows; ++b) std::fill_n(h.row(b), h.cols, 0.0f);
  } else if (f.rows == 1) {
    cblas_sgemv(CblasRowMajor, CblasTrans, w.rows, w.cols, 1.0f, w.data, w.stride, f.data, 1, 0.0f,
                h.data, 1);
  } else {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, f.rows, w.cols, f.cols, 1.0f, f.data,
                f.stride, w.data, w.stride, 0.0f, h.data, h.stride);
  }
  if (phi == Nonlinearity::none) return Status();
  const int rows_per_range = std::max(1, kGrain / h.cols);
  parallel_for(h.rows, rows_per_range, [&](int begin, int end) {
    for (int b = begin; b < end; ++b) apply(phi, h.row(b), h.cols);
  });
  return Status();
}

}  // namespace engram::cpu
