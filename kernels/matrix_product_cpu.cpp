#include "kernels/matrix_product_cpu.h"

#include <algorithm>
#include <cstdint>

#include "platform/blas.h"
#include "platform/status.h"
#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kRows = 64;           // of c in a piece
constexpr int kCols = 256;          // of c in a piece
constexpr int kFewCols = 32;        // the same where there are not many
constexpr int kManyRows = 1024;     // of c, from which a piece is a band as wide as c
constexpr int kBandRows = 512;      // of c in such a piece, at most
constexpr int kBands = 8;           // there are so many, or a multiple: as many threads may share
constexpr double kLarge = 1 << 28;  // multiplications of a lower product that has larger pieces
constexpr int kLargeRows = 320;     // of c in such a piece, at most: each call packs its operands
constexpr int kLargeCols = 384;     // anew, which takes a tenth of the time of smaller pieces
constexpr int kLeastPieces = 8;     // of such a product, for as many threads
constexpr int kVectorReads = 1 << 16;  // numbers that a piece of a product with one row reads
constexpr int kSquare = 192;           // rows and columns of a piece of a symmetric product

CBLAS_TRANSPOSE turn(MatrixFactor factor) {
  return factor.is_turned ? CblasTrans : CblasNoTrans;
}

// Columns [first, first + count) of a factor.
const float* columns(MatrixFactor factor, int first) {
  return factor.is_turned ? factor.matrix.row(first) : factor.matrix.data + first;
}
const float* rows(MatrixFactor factor, int first) {
  return factor.is_turned ? factor.matrix.data + first : factor.matrix.row(first);
}

struct Piece {
  int rows, cols;
};

int pieces(int size, int piece) {
  return (size + piece - 1) / piece;
}
// Of even size, a multiple of 16 and at most `most`, which is one too.
int even_piece(int size, int most) {
  return (pieces(size, pieces(size, most)) + 15) / 16 * 16;
}

// By the shape alone.
Piece piece_of(int rows, int cols, int depth) {
  if (double(rows) * cols * depth < kLarge) return {kRows, cols <= kCols ? kFewCols : kCols};
  int most_rows = kLargeRows, most_cols = kLargeCols;
  const auto are_few = [&] {
    return pieces(rows, most_rows) * pieces(cols, most_cols) < kLeastPieces;
  };
  while (are_few() && most_cols > 96) most_cols /= 2;
  while (are_few() && most_rows > 80) most_rows /= 2;
  return {even_piece(rows, most_rows), even_piece(cols, most_cols)};
}

void scale(float beta, MatrixView<float> c) {
  for (int r = 0; r < c.rows; ++r) {
    for (int i = 0; i < c.cols; ++i) c(r, i) = beta == 0.0f ? 0.0f : beta * c(r, i);
  }
}

// c has one row: as many calls that read b once.
void multiply_row(float alpha, MatrixFactor a, MatrixFactor b, float beta, MatrixView<float> c) {
  const int step = a.is_turned ? a.matrix.stride : 1;
  const int piece = std::max(1, kVectorReads / std::max(1, b.rows()));
  parallel_for(c.cols, piece, [&](int begin, int end) {
    for (int at = begin; at < end; at += piece) {
      const int count = std::min(piece, end - at);
      // c[j] = sum over i of b[i,j] a[i]: the turned product of b with a vector.
      const int height = b.is_turned ? count : b.rows(), width = b.is_turned ? b.rows() : count;
      cblas_sgemv(CblasRowMajor, b.is_turned ? CblasNoTrans : CblasTrans, height, width, alpha,
                  columns(b, at), b.matrix.stride, a.matrix.data, step, beta, c.data + at, 1);
    }
  });
}

// c is high: b, which OpenBLAS rearranges in each call, is small beside it.
void multiply_bands(float alpha, MatrixFactor a, MatrixFactor b, float beta, MatrixView<float> c) {
  const int groups = (c.rows + kBands * kBandRows - 1) / (kBands * kBandRows);
  const int bands = kBands * groups;
  parallel_for(bands, 1, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const auto edge = [&](int band) { return int(std::int64_t{c.rows} * band / bands); };
      const int row = edge(i), height = edge(i + 1) - row;
      cblas_sgemm(CblasRowMajor, turn(a), turn(b), height, c.cols, a.cols(), alpha, rows(a, row),
                  a.matrix.stride, b.matrix.data, b.matrix.stride, beta, c.row(row), c.stride);
    }
  });
}

enum class Triangle { lower, upper };

void add_gram(Triangle triangle, float alpha, MatrixView<const float> a, MatrixView<float> c) {
  ENGRAM_CHECK(c.rows == a.cols && c.cols == a.cols);
  const int size = a.cols;
  if (size == 0 || a.rows == 0) return;
  const int pieces = (size + kSquare - 1) / kSquare;
  parallel_for(pieces, 1, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      // The longest rows first, so that the threads end at about the same time.
      const int at = kSquare * (triangle == Triangle::upper ? i : pieces - 1 - i);
      const int height = std::min(kSquare, size - at);
      cblas_ssyrk(CblasRowMajor, triangle == Triangle::upper ? CblasUpper : CblasLower, CblasTrans,
                  height, a.rows, alpha, a.data + at, a.stride, 1.0f, c.row(at) + at, c.stride);
      const int first = triangle == Triangle::upper ? at + height : 0;
      const int width = triangle == Triangle::upper ? size - first : at;
      if (width == 0) continue;
      cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, height, width, a.rows, alpha,
                  a.data + at, a.stride, a.data + first, a.stride, 1.0f, c.row(at) + first,
                  c.stride);
    }
  });
}

}  // namespace

void multiply(float alpha, MatrixFactor a, MatrixFactor b, float beta, MatrixView<float> c) {
  ENGRAM_CHECK(a.cols() == b.rows() && c.rows == a.rows() && c.cols == b.cols());
  if (c.rows == 0 || c.cols == 0) return;
  if (a.cols() == 0) return scale(beta, c);  // OpenBLAS leaves c alone
  if (c.rows == 1) return multiply_row(alpha, a, b, beta, c);
  if (c.rows >= kManyRows) return multiply_bands(alpha, a, b, beta, c);
  const Piece piece = piece_of(c.rows, c.cols, a.cols());
  const int across = pieces(c.cols, piece.cols), down = pieces(c.rows, piece.rows);
  parallel_for(across * down, 1, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      // Neighbours share columns of b, which are the larger part as a rule.
      const int row = i % down * piece.rows, col = i / down * piece.cols;
      cblas_sgemm(CblasRowMajor, turn(a), turn(b), std::min(piece.rows, c.rows - row),
                  std::min(piece.cols, c.cols - col), a.cols(), alpha, rows(a, row),
                  a.matrix.stride, columns(b, col), b.matrix.stride, beta, c.row(row) + col,
                  c.stride);
    }
  });
}

void add_gram_lower(float alpha, MatrixView<const float> a, MatrixView<float> c) {
  add_gram(Triangle::lower, alpha, a, c);
}
void add_gram_upper(float alpha, MatrixView<const float> a, MatrixView<float> c) {
  add_gram(Triangle::upper, alpha, a, c);
}

}  // namespace engram::cpu
