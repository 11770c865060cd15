// The emulated device's linear algebra: OpenBLAS, on memory that the emulator knows.
#include <cstddef>

#include "platform/blas.h"
#include "platform/device_blas.h"
#include "platform/device_memory.h"
#include "platform/simt_machine.h"
#include "platform/simt_recording.h"

namespace engram::simt {
namespace {

CBLAS_TRANSPOSE turn(bool is_turned) {
  return is_turned ? CblasTrans : CblasNoTrans;
}

// A library is device code: it may touch what a kernel may, and what it wrote is written.
Status reachable(const char* call, const float* matrix, bool is_empty) {
  if (is_empty || kMemory.reaches(matrix)) return Status();
  return Status(Code::device_failure,
                std::string(call) + " was given memory that the device cannot reach");
}
template <class T>
Status reachable(const char* call, MatrixView<T> matrix) {
  return reachable(call, matrix.data, matrix.rows == 0 || matrix.cols == 0);
}
void wrote(MatrixView<float> matrix) {
  for (int r = 0; r < matrix.rows; ++r) {
    device_mark_written(matrix.row(r), sizeof(float) * std::size_t(matrix.cols));
  }
}

}  // namespace

Status blas_multiply(Stream /*stream*/, float alpha, MatrixFactor a, MatrixFactor b, float beta,
                     MatrixView<float> c) {
  ENGRAM_CHECK(a.cols() == b.rows() && a.rows() == c.rows && b.cols() == c.cols);
  if (c.rows == 0 || c.cols == 0) return Status();
  ENGRAM_TRY(reachable("sgemm", a.matrix));
  ENGRAM_TRY(reachable("sgemm", b.matrix));
  ENGRAM_TRY(reachable("sgemm", c));
  const auto multiply = [=] {
    cblas_sgemm(CblasRowMajor, turn(a.is_turned), turn(b.is_turned), c.rows, c.cols, a.cols(),
                alpha, a.matrix.data, a.matrix.stride, b.matrix.data, b.matrix.stride, beta, c.data,
                c.stride);
    wrote(c);
    return Status();
  };
  if (!is_recording()) return multiply();
  record(multiply);
  return Status();
}

Status blas_add_gram_upper(Stream /*stream*/, float alpha, MatrixView<const float> a,
                           MatrixView<float> c) {
  ENGRAM_CHECK(c.rows == c.cols && a.cols == c.cols);
  if (c.rows == 0 || a.rows == 0) return Status();
  ENGRAM_TRY(reachable("ssyrk", a));
  ENGRAM_TRY(reachable("ssyrk", c));
  cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, c.cols, a.rows, alpha, a.data, a.stride, 1.0f,
              c.data, c.stride);
  return Status();
}

Status blas_solve_upper(Stream /*stream*/, MatrixView<const float> u, bool turned, Sides sides,
                        MatrixView<float> x) {
  const bool by_rows = sides == Sides::rows;
  ENGRAM_CHECK(u.rows == u.cols && (by_rows ? x.cols : x.rows) == u.rows);
  if (x.rows == 0 || x.cols == 0) return Status();
  ENGRAM_TRY(reachable("strsm", u));
  ENGRAM_TRY(reachable("strsm", x));
  // Rows hold the sides: U y = x is yT UT = xT.
  cblas_strsm(CblasRowMajor, by_rows ? CblasRight : CblasLeft, CblasUpper, turn(by_rows != turned),
              CblasNonUnit, x.rows, x.cols, 1.0f, u.data, u.stride, x.data, x.stride);
  return Status();
}

// Nothing is ever written there: it is taken as cuSOLVER's would be.
Status blas_reserve_factor(int size) {
  static void* workspace = nullptr;
  static std::size_t bytes = 0;
  const std::size_t wanted = 64 * sizeof(float) * std::size_t(size);
  if (wanted <= bytes) return Status();
  ENGRAM_ASSIGN(void* more, kMemory.allocate(wanted));
  kMemory.release(workspace, bytes);
  workspace = more;
  bytes = wanted;
  return Status();
}

Status blas_factor_upper(Stream /*stream*/, MatrixView<float> a, int* verdict) {
  ENGRAM_CHECK(a.rows == a.cols);
  ENGRAM_TRY(blas_reserve_factor(a.rows));
  *verdict = 0;
  if (a.rows > 0) {
    ENGRAM_TRY(reachable("spotrf", a));
    spotrf_("L", &a.rows, a.data, &a.stride, verdict);
    ENGRAM_CHECK(*verdict >= 0);
  }
  device_mark_written(verdict, sizeof *verdict);
  return Status();
}

}  // namespace engram::simt
