// OpenBLAS as we use it: CBLAS from its own header, and the few Fortran LAPACK routines that
// Debian's and Ubuntu's libopenblas contain. Declared here because the LAPACKE headers are another
// package.
#pragma once

#include <cblas.h>

extern "C" {
// Cholesky factor of the symmetric a (n, n), column-major, in place; uplo names the triangle.
// info: 0, or the order of the first leading minor that is not positive definite.
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info);
// The same in double, and solves with its factor: b (n, nrhs), column-major, in place.
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotrs_(const char* uplo, const int* n, const int* nrhs, const double* a, const int* lda,
             double* b, const int* ldb, int* info);
// The inverse from dpotrf's factor, in place, in the triangle that uplo names.
void dpotri_(const char* uplo, const int* n, double* a, const int* lda, int* info);
// Eigenvalues d, ascending, and with jobz 'V' eigenvectors z (n, n), column-major, of the symmetric
// tridiagonal matrix with diagonal d (n) and e (n - 1) beside it; work (2 n - 2). All overwritten.
void dstev_(const char* jobz, const int* n, double* d, double* e, double* z, const int* ldz,
            double* work, int* info);
}
