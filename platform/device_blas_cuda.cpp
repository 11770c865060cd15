// cuBLAS and cuSOLVER, column-major: a row-major matrix is its own transpose to them, and our upper
// triangle their lower one. Shapes and meaning: device_blas.h.
#include "platform/device_blas.h"

#include <algorithm>

#include "platform/device_context_cuda.h"

namespace engram::cuda {
namespace {

cublasOperation_t turn(bool is_turned) {
  return is_turned ? CUBLAS_OP_T : CUBLAS_OP_N;
}

// The libraries work on the process's one queue from the start: to set it again would take from
// cuBLAS the room that it was given.
Result<Context*> on(Stream stream) {
  ENGRAM_ASSIGN(Context * c, context());
  ENGRAM_CHECK(stream.handle == c->stream);
  return static_cast<Context*>(c);
}

Status reserve_workspace(Context& device, int floats) {
  if (floats <= device.workspace_size) return Status();
  ENGRAM_CUDA_TRY(cudaFree, device.workspace);
  device.workspace = nullptr;
  device.workspace_size = 0;
  ENGRAM_CUDA_TRY(cudaMalloc, reinterpret_cast<void**>(&device.workspace),
                  sizeof(float) * static_cast<std::size_t>(floats));
  device.workspace_size = floats;
  return Status();
}

}  // namespace

Status blas_multiply(Stream stream, float alpha, MatrixFactor a, MatrixFactor b, float beta,
                     MatrixView<float> c) {
  ENGRAM_CHECK(a.cols() == b.rows() && a.rows() == c.rows && b.cols() == c.cols);
  if (c.rows == 0 || c.cols == 0) return Status();
  ENGRAM_ASSIGN(Context * device, on(stream));
  // cT = bT aT, and each is what the library sees anyway.
  ENGRAM_CUDA_TRY(cublasSgemm, device->blas, turn(b.is_turned), turn(a.is_turned), c.cols, c.rows,
                  a.cols(), &alpha, b.matrix.data, std::max(1, b.matrix.stride), a.matrix.data,
                  std::max(1, a.matrix.stride), &beta, c.data, c.stride);
  return Status();
}

Status blas_add_gram_upper(Stream stream, float alpha, MatrixView<const float> a,
                           MatrixView<float> c) {
  ENGRAM_CHECK(c.rows == c.cols && a.cols == c.cols);
  if (c.rows == 0 || a.rows == 0) return Status();
  ENGRAM_ASSIGN(Context * device, on(stream));
  const float one = 1.0f;
  ENGRAM_CUDA_TRY(cublasSsyrk, device->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, c.cols, a.rows,
                  &alpha, a.data, a.stride, &one, c.data, c.stride);
  return Status();
}

Status blas_solve_upper(Stream stream, MatrixView<const float> u, bool turned, Sides sides,
                        MatrixView<float> x) {
  const bool by_rows = sides == Sides::rows;
  ENGRAM_CHECK(u.rows == u.cols && (by_rows ? x.cols : x.rows) == u.rows);
  if (x.rows == 0 || x.cols == 0) return Status();
  ENGRAM_ASSIGN(Context * device, on(stream));
  const float one = 1.0f;
  // The library's L is UT. Our rows are its columns: UT y = x is L y = x. Our columns are its rows:
  // UT y = x is yT U = xT, that is yT LT = xT.
  ENGRAM_CUDA_TRY(cublasStrsm, device->blas, by_rows ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT,
                  CUBLAS_FILL_MODE_LOWER, turn(by_rows != turned), CUBLAS_DIAG_NON_UNIT, x.cols,
                  x.rows, &one, u.data, u.stride, x.data, x.stride);
  return Status();
}

Status blas_reserve_factor(int size) {
  ENGRAM_ASSIGN(Context * device, context());
  int floats = 0;
  ENGRAM_CUDA_TRY(cusolverDnSpotrf_bufferSize, device->solver, CUBLAS_FILL_MODE_LOWER, size,
                  device->workspace, std::max(size, 1), &floats);
  return reserve_workspace(*device, floats);
}

Status blas_factor_upper(Stream stream, MatrixView<float> a, int* verdict) {
  ENGRAM_CHECK(a.rows == a.cols);
  ENGRAM_ASSIGN(Context * device, on(stream));
  int size = 0;
  ENGRAM_CUDA_TRY(cusolverDnSpotrf_bufferSize, device->solver, CUBLAS_FILL_MODE_LOWER, a.rows,
                  a.data, a.stride, &size);
  ENGRAM_TRY(reserve_workspace(*device, size));
  ENGRAM_CUDA_TRY(cusolverDnSpotrf, device->solver, CUBLAS_FILL_MODE_LOWER, a.rows, a.data,
                  a.stride, device->workspace, size, verdict);
  return Status();
}

}  // namespace engram::cuda
