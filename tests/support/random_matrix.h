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

// The central difference of value() as `at` moves, which value() reads: right to about 1e-9.
template <class Value>
double slope(const Value& value, double& at) {
  constexpr double kStep = 1e-5;
  const double here = at;
  at = here + kStep;
  const double above = value();
  at = here - kStep;
  const double below = value();
  at = here;
  return (above - below) / (2 * kStep);
}

// d function / d numbers[i] for each i.
template <class Function>
std::vector<double> gradient_by_differences(std::vector<double> numbers, const Function& function) {
  std::vector<double> gradient;
  for (double& number : numbers) {
    gradient.push_back(slope([&] { return function(numbers); }, number));
  }
  return gradient;
}

}  // namespace engram::test
