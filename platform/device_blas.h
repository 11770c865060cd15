// Dense linear algebra on a device: what the operations of kernels/ that are plain matrix algebra
// are made of there. Row-major, float, in device memory; the names follow what is computed.
//
//   cuda   cuBLAS and cuSOLVER in full FP32: CUBLAS_PEDANTIC_MATH forbids TF32 and reduced sums,
//          cuSOLVER's default is full FP32                                   (device_blas_cuda.cpp)
//   simt   OpenBLAS, one call for one of the library's                       (device_blas_simt.cpp)
//
// A row-major matrix is the column-major transpose of itself to those libraries, and a row-major
// "upper" their "lower": nothing is copied to change the order. A call queues its work on `stream`;
// wrong shapes are our bug.
#pragma once

#include <cstdint>

#include "platform/matrix_factor.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// Are the right-hand sides of a solve the rows or the columns of their matrix?
enum class Sides : std::uint8_t { rows, columns };

// c = alpha a b + beta c, shapes (m,k) (k,n) (m,n). With beta 0 what c held does not matter.
using BlasMultiply = Status(Stream stream, float alpha, MatrixFactor a, MatrixFactor b, float beta,
                            MatrixView<float> c);
// c += alpha aT a, of the square c the upper triangle with its diagonal; the rest is neither read
// nor written.
using BlasAddGramUpper = Status(Stream stream, float alpha, MatrixView<const float> a,
                                MatrixView<float> c);
// U y = x, or UT y = x with `turned`, in place; only the upper triangle of the square u is read.
using BlasSolveUpper = Status(Stream stream, MatrixView<const float> u, bool turned, Sides sides,
                              MatrixView<float> x);
// UT U = a in place, in the upper triangle of the square a; the rest is neither read nor written.
// verdict, an int of device memory: 0, or the order of the first leading minor that is not positive.
using BlasFactorUpper = Status(Stream stream, MatrixView<float> a, int* verdict);
// Room for it, for all sizes up to this one: what was not taken before is taken by the factor itself.
using BlasReserveFactor = Status(int size);

namespace cuda {
BlasMultiply blas_multiply;             // device_blas_cuda.cpp
BlasAddGramUpper blas_add_gram_upper;   // device_blas_cuda.cpp
BlasSolveUpper blas_solve_upper;        // device_blas_cuda.cpp
BlasFactorUpper blas_factor_upper;      // device_blas_cuda.cpp
BlasReserveFactor blas_reserve_factor;  // device_blas_cuda.cpp
}  // namespace cuda
namespace simt {
BlasMultiply blas_multiply;             // device_blas_simt.cpp
BlasAddGramUpper blas_add_gram_upper;   // device_blas_simt.cpp
BlasSolveUpper blas_solve_upper;        // device_blas_simt.cpp
BlasFactorUpper blas_factor_upper;      // device_blas_simt.cpp
BlasReserveFactor blas_reserve_factor;  // device_blas_simt.cpp
}  // namespace simt

}  // namespace engram
