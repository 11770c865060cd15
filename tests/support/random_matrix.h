// Matrices of normally distributed numbers, and the gradients of a function of numbers in double, by
// differences: nothing in common with the code under test.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "tests/support/guarded_matrix.h"

namespace engram::test {

inline GuardedMatrix<float> random_matrix(int rows, int cols, unsigned seed, float mean = 0.0f,
                                          float deviation = 1.0f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(mean, deviation);
  GuardedMatrix<float> matrix(rows, cols);
  matrix.fill([&] { return normal(random); });
  return matrix;
}

inline std::vector<double> in_double(MatrixView<const float> matrix) {
  std::vector<double> all;
  for (int r = 0; r < matrix.rows; ++r)
    all.insert(all.end(), matrix.row(r), matrix.row(r) + matrix.cols);
  return all;
}

// d function / d numbers[i] for each i, by central differences: right to about 1e-9.
template <class Function>
std::vector<double> gradient_by_differences(std::vector<double> numbers, const Function& function) {
  constexpr double kStep = 1e-5;
  std::vector<double> gradient;
  for (double& number : numbers) {
    const double here = number;
    number = here + kStep;
    const double above = function(numbers);
    number = here - kStep;
    gradient.push_back((above - function(numbers)) / (2 * kStep));
    number = here;
  }
  return gradient;
}

}  // namespace engram::test
