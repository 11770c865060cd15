// Triangular solves in blocks of the factor, each piece one call of OpenBLAS in one thread of ours.
//
//     UT y = x    from the first block k on:  y[k] = U[k,k]^-T x[k],  x[j] -= U[k,j]T y[k] for j > k
//     U y = x     from the last block k on:   y[k] = U[k,k]^-1 x[k],  x[i] -= U[i,k] y[k]  for i < k
//
// One right-hand side is read from memory and not from registers: there the second form takes
// x[k] -= U[k,j] y[j] for all j > k at once, so that both read whole rows of U.
//
// The pieces do not depend on the number of threads, and so neither do the bits of the result.
#include "kernels/triangular_cpu.h"

#include <algorithm>
#include <cstddef>

#include "kernels/matrix_product_cpu.h"
#include "platform/blas.h"
#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kBlock = 192;       // rows and columns of U
constexpr int kSides = 32;        // right-hand sides in a piece
constexpr int kVectorBlock = 96;  // rows and columns of U for one right-hand side
constexpr int kVectorRows = 24;   // of them in a piece
constexpr int kVectorCols = 480;  // columns in a piece

// Calls body(begin, count) on pieces of `size` that cover [0, count).
template <class Body>
void in_pieces(int count, int size, const Body& body) {
  parallel_for(count, size, [&](int begin, int end) {
    for (int at = begin; at < end; at += size) body(at, std::min(size, end - at));
  });
}

void solve_diagonal(GramView g, int row, int rows, CBLAS_TRANSPOSE turned, MatrixView<float> x) {
  in_pieces(x.rows, kSides, [&](int side, int sides) {
    // x holds rows: UT y = x is yT U = xT.
    cblas_strsm(CblasRowMajor, CblasRight, CblasUpper, turned, CblasNonUnit, sides, rows, 1.0f,
                g.row(row) + row, g.stride, x.row(side) + row, x.stride);
  });
}

}  // namespace

void solve_upper_transposed(GramView g, MatrixView<float> x) {
  for (int row = 0; row < g.size; row += kBlock) {
    const int rows = std::min(kBlock, g.size - row), right = row + rows;
    solve_diagonal(g, row, rows, CblasNoTrans, x);
    const int left = g.size - right;
    multiply(-1.0f, plain({x.data + row, x.rows, rows, x.stride}),
             plain({g.row(row) + right, rows, left, g.stride}), 1.0f,
             {x.data + right, x.rows, left, x.stride});
  }
}

void solve_upper(GramView g, MatrixView<float> x) {
  for (int row = (g.size - 1) / kBlock * kBlock; row >= 0; row -= kBlock) {
    const int rows = std::min(kBlock, g.size - row);
    solve_diagonal(g, row, rows, CblasTrans, x);
    multiply(-1.0f, plain({x.data + row, x.rows, rows, x.stride}),
             turned({g.data + row, row, rows, g.stride}), 1.0f, {x.data, x.rows, row, x.stride});
  }
}

void solve_upper_transposed(GramView g, float* x, int step) {
  const auto at = [&](int i) { return x + std::ptrdiff_t{step} * i; };
  for (int row = 0; row < g.size; row += kVectorBlock) {
    const int rows = std::min(kVectorBlock, g.size - row), right = row + rows;
    cblas_strsv(CblasRowMajor, CblasUpper, CblasTrans, CblasNonUnit, rows, g.row(row) + row,
                g.stride, at(row), step);
    in_pieces(g.size - right, kVectorCols, [&](int col, int cols) {
      cblas_sgemv(CblasRowMajor, CblasTrans, rows, cols, -1.0f, g.row(row) + right + col, g.stride,
                  at(row), step, 1.0f, at(right + col), step);
    });
  }
}

void solve_upper(GramView g, float* x, int step) {
  const auto at = [&](int i) { return x + std::ptrdiff_t{step} * i; };
  for (int row = (g.size - 1) / kVectorBlock * kVectorBlock; row >= 0; row -= kVectorBlock) {
    const int rows = std::min(kVectorBlock, g.size - row), right = row + rows;
    if (right < g.size) {
      in_pieces(rows, kVectorRows, [&](int first, int count) {
        cblas_sgemv(CblasRowMajor, CblasNoTrans, count, g.size - right, -1.0f,
                    g.row(row + first) + right, g.stride, at(right), step, 1.0f, at(row + first),
                    step);
      });
    }
    cblas_strsv(CblasRowMajor, CblasUpper, CblasNoTrans, CblasNonUnit, rows, g.row(row) + row,
                g.stride, at(row), step);
  }
}

}  // namespace engram::cpu
