// cuBLAS and cuSOLVER of the GPU that is not there: column-major, as theirs, by OpenBLAS.
#include <cstddef>
#include <cstdint>

#include <cublas_v2.h>
#include <cusolverDn.h>

#include "platform/blas.h"
#include "tests/cuda/fake_gpu.h"
#include "tests/cuda/fake_queue_cuda.h"

using engram::test::can_take_memory;
using engram::test::fake_gpu;
using engram::test::gpu_reaches;
using engram::test::queue;

namespace {

int handle;
cublasMath_t math = CUBLAS_DEFAULT_MATH;
cudaStream_t blas_stream = nullptr, solver_stream = nullptr;
bool has_workspace = false;  // that it was given; else it takes its own when it needs it

CBLAS_TRANSPOSE turn(cublasOperation_t operation) {
  return operation == CUBLAS_OP_T ? CblasTrans : CblasNoTrans;
}
CBLAS_UPLO triangle(cublasFillMode_t mode) {
  return mode == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper;
}
bool has_room(const char* call) {
  return fake_gpu().no_memory_in != call && (has_workspace || can_take_memory(blas_stream));
}
// A column-major matrix: all of its elements, from the first to the last.
bool reaches(const float* matrix, int rows, int cols, int stride) {
  const std::size_t elements = std::size_t(stride) * std::size_t(cols - 1) + std::size_t(rows);
  return stride >= rows && gpu_reaches(matrix, sizeof(float) * elements);
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* made) {
  *made = reinterpret_cast<cublasHandle_t>(&handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t, cudaStream_t stream) {
  blas_stream = stream;
  has_workspace = false;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void* workspace, std::size_t bytes) {
  const bool is_good = reinterpret_cast<std::uintptr_t>(workspace) % 256 == 0 && bytes > 0 &&
                       gpu_reaches(workspace, bytes);
  has_workspace = is_good;
  return is_good ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t mode) {
  math = mode;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusString(cublasStatus_t) {
  return "some status";
}
cublasStatus_t cublasSgemm_v2(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m,
                              int n, int k, const float* alpha, const float* a, int lda,
                              const float* b, int ldb, const float* beta, float* c, int ldc) {
  const bool a_is = ta == CUBLAS_OP_N, b_is = tb == CUBLAS_OP_N;
  if (math != CUBLAS_PEDANTIC_MATH) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (!has_room("cublasSgemm")) return CUBLAS_STATUS_ALLOC_FAILED;
  if (!reaches(c, m, n, ldc) || (k > 0 && (!reaches(a, a_is ? m : k, a_is ? k : m, lda) ||
                                           !reaches(b, b_is ? k : n, b_is ? n : k, ldb)))) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  queue(blas_stream, [=, x = *alpha, y = *beta] {
    cblas_sgemm(CblasColMajor, turn(ta), turn(tb), m, n, k, x, a, lda, b, ldb, y, c, ldc);
  });
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSsyrk_v2(cublasHandle_t, cublasFillMode_t fill, cublasOperation_t turned,
                              int n, int k, const float* alpha, const float* a, int lda,
                              const float* beta, float* c, int ldc) {
  const bool plain = turned == CUBLAS_OP_N;
  if (!has_room("cublasSsyrk")) return CUBLAS_STATUS_ALLOC_FAILED;
  if (!reaches(a, plain ? n : k, plain ? k : n, lda) || !reaches(c, n, n, ldc)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  queue(blas_stream, [=, x = *alpha, y = *beta] {
    cblas_ssyrk(CblasColMajor, triangle(fill), turn(turned), n, k, x, a, lda, y, c, ldc);
  });
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasStrsm_v2(cublasHandle_t, cublasSideMode_t side, cublasFillMode_t fill,
                              cublasOperation_t turned, cublasDiagType_t diagonal, int m, int n,
                              const float* alpha, const float* a, int lda, float* b, int ldb) {
  const bool left = side == CUBLAS_SIDE_LEFT;
  const int size = left ? m : n;
  if (!has_room("cublasStrsm")) return CUBLAS_STATUS_ALLOC_FAILED;
  if (!reaches(a, size, size, lda) || !reaches(b, m, n, ldb)) return CUBLAS_STATUS_INVALID_VALUE;
  queue(blas_stream, [=, x = *alpha] {
    cblas_strsm(CblasColMajor, left ? CblasLeft : CblasRight, triangle(fill), turn(turned),
                diagonal == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit, m, n, x, a, lda, b, ldb);
  });
  return CUBLAS_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* made) {
  *made = reinterpret_cast<cusolverDnHandle_t>(&handle);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t, cudaStream_t stream) {
  solver_stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSpotrf_bufferSize(cusolverDnHandle_t, cublasFillMode_t, int n, float*,
                                             int, int* size) {
  *size = 64 * n;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSpotrf(cusolverDnHandle_t, cublasFillMode_t fill, int n, float* a,
                                  int lda, float* workspace, int size, int* info) {
  if (fake_gpu().no_memory_in == "cusolverDnSpotrf") return CUSOLVER_STATUS_ALLOC_FAILED;
  if (!reaches(a, n, n, lda) || size < 64 * n || !gpu_reaches(info, sizeof *info) ||
      !gpu_reaches(workspace, sizeof(float) * std::size_t(size))) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  queue(solver_stream, [=] {
    for (int i = 0; i < size; ++i) workspace[i] = 1e30f;
    spotrf_(fill == CUBLAS_FILL_MODE_LOWER ? "L" : "U", &n, a, &lda, info);
  });
  return CUSOLVER_STATUS_SUCCESS;
}

}  // extern "C"
