// A test's matrix in double, to write a definition down with and to differentiate it by: slope() in
// random_matrix.h.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/support/device_matrix.h"
#include "tests/support/kernel_backends.h"

namespace engram::test {

struct DoubleMatrix {
  DoubleMatrix(int row_count, int col_count)
      : rows(row_count), cols(col_count), data(std::size_t(rows) * std::size_t(cols)) {}
  explicit DoubleMatrix(const GuardedMatrix<float>& from) : DoubleMatrix(from.rows(), from.cols()) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) (*this)(r, c) = from(r, c);
  }
  double& operator()(int r, int c) { return data[std::size_t(r) * std::size_t(cols) + c]; }
  double operator()(int r, int c) const { return data[std::size_t(r) * std::size_t(cols) + c]; }

  int rows, cols;
  std::vector<double> data;
};

// One matrix for two operands: write() as the one that is written, read() as the other. The
// test's own matrix has the result when this goes.
class InPlace {
 public:
  InPlace(const Backend& backend, GuardedMatrix<float>& matrix)
      : placed_({backend.on_device(), backend.aligned_rows}, updates(matrix)) {}
  MatrixView<float> write() const { return placed_.get(); }
  MatrixView<const float> read() const { return placed_.get(); }

 private:
  PlacedMatrix<float> placed_;
};

// Shapes at the edges of what elementwise operations are cut into: 256 columns of a block, 16384
// elements of a piece of a row on the CPU.
struct MatrixShape {
  int rows, cols;
};
inline const std::vector<MatrixShape>& elementwise_shapes() {
  static const std::vector<MatrixShape> shapes{{0, 5},   {3, 0},   {1, 1},     {5, 7},    {3, 255},
                                               {2, 256}, {2, 257}, {1, 16384}, {2, 16385}};
  return shapes;
}

// a * b and a + b rounded to float, whatever the compiler makes of the test: exact in double.
inline float rounded_product(float a, float b) {
  return float(double{a} * b);
}
inline float rounded_sum(float a, float b) {
  return float(double{a} + b);
}

}  // namespace engram::test
