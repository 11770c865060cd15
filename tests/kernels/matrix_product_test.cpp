// Products of float matrices: against the definition in double, over the edges of the pieces; the
// same bits for every number of threads.
#include "kernels/matrix_product_cpu.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/guarded_matrix.h"
#include "tests/support/thread_count.h"
#include "tests/support/worst.h"

namespace engram {
namespace {

using test::GuardedMatrix;

struct Shape {
  int rows, inner, cols;
};

float at(const GuardedMatrix<float>& matrix, bool is_turned, int r, int c) {
  return is_turned ? matrix(c, r) : matrix(r, c);
}

template <class Next>
GuardedMatrix<float> filled(int rows, int cols, Next&& next) {
  GuardedMatrix<float> matrix(rows, cols);
  matrix.fill(next);
  return matrix;
}

}  // namespace

TEST_CASE("product: equals the definition, with the same bits on any threads",
          "[kernels][product]") {
  const Shape shape =
      GENERATE(Shape{0, 3, 4}, Shape{3, 0, 4}, Shape{1, 0, 4}, Shape{1, 700, 95},
               Shape{1, 70000, 3}, Shape{2, 5, 1}, Shape{17, 300, 100}, Shape{64, 33, 31},
               Shape{65, 33, 33}, Shape{130, 20, 256}, Shape{63, 40, 257}, Shape{200, 7, 600},
               Shape{1023, 9, 20}, Shape{1024, 9, 3}, Shape{1031, 9, 300}, Shape{4097, 3, 5});
  const bool turn_a = GENERATE(false, true), turn_b = GENERATE(false, true);
  const float beta = GENERATE(0.0f, 1.0f);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const auto next = [&] { return normal(random); };
  const auto a = filled(turn_a ? shape.inner : shape.rows, turn_a ? shape.rows : shape.inner, next);
  const auto b = filled(turn_b ? shape.cols : shape.inner, turn_b ? shape.inner : shape.cols, next);
  const auto before = filled(shape.rows, shape.cols, [&] {
    return beta == 0.0f ? std::numeric_limits<float>::quiet_NaN() : normal(random);
  });

  std::vector<float> first;
  for (const int threads : {1, 2, 3}) {
    CAPTURE(shape.rows, shape.inner, shape.cols, turn_a, turn_b, beta, threads);
    const test::ThreadCount with(threads);
    GuardedMatrix<float> c(shape.rows, shape.cols);
    for (int r = 0; r < shape.rows; ++r) {
      for (int i = 0; i < shape.cols; ++i) c(r, i) = before(r, i);
    }
    cpu::multiply(-0.5f, {a.read(), turn_a}, {b.read(), turn_b}, beta, c.view());
    test::Worst worst;
    std::vector<float> bits;
    for (int r = 0; r < shape.rows; ++r) {
      for (int i = 0; i < shape.cols; ++i) {
        double sum = beta == 0.0f ? 0.0 : double{before(r, i)}, size = 1.0;
        for (int k = 0; k < shape.inner; ++k) {
          const double term = -0.5 * at(a, turn_a, r, k) * at(b, turn_b, k, i);
          sum += term;
          size += std::fabs(term);
        }
        worst.see(std::fabs(c(r, i) - sum) / size);
        bits.push_back(c(r, i));
      }
    }
    REQUIRE(worst.value() < 1e-6);
    REQUIRE(c.untouched());
    if (first.empty()) first = bits;
    REQUIRE(bits == first);
  }
}

// Whole numbers are exact, and c z = a (b z) for any z takes no third loop.
TEST_CASE("product: large ones, in larger pieces", "[kernels][product]") {
  const Shape shape = GENERATE(Shape{330, 2100, 400}, Shape{1281, 545, 385});
  const bool turn_a = GENERATE(false, true), turn_b = GENERATE(false, true);
  std::mt19937 random(3);
  const auto next = [&] { return float(int(random() % 3) - 1); };
  const auto a = filled(turn_a ? shape.inner : shape.rows, turn_a ? shape.rows : shape.inner, next);
  const auto b = filled(turn_b ? shape.cols : shape.inner, turn_b ? shape.inner : shape.cols, next);
  std::vector<double> z(std::size_t(shape.cols)), bz(std::size_t(shape.inner));
  for (double& value : z) value = double(random() % 1000);
  for (int k = 0; k < shape.inner; ++k) {
    for (int i = 0; i < shape.cols; ++i)
      bz[std::size_t(k)] += at(b, turn_b, k, i) * z[std::size_t(i)];
  }
  std::vector<double> wanted(std::size_t(shape.rows), 0.0);
  for (int r = 0; r < shape.rows; ++r) {
    for (int k = 0; k < shape.inner; ++k)
      wanted[std::size_t(r)] += at(a, turn_a, r, k) * bz[std::size_t(k)];
  }
  for (const int threads : {1, 2}) {
    CAPTURE(shape.rows, shape.inner, shape.cols, turn_a, turn_b, threads);
    const test::ThreadCount with(threads);
    GuardedMatrix<float> c(shape.rows, shape.cols);
    cpu::multiply(1.0f, {a.read(), turn_a}, {b.read(), turn_b}, 0.0f, c.view());
    std::vector<double> cz(std::size_t(shape.rows), 0.0);
    for (int r = 0; r < shape.rows; ++r) {
      for (int i = 0; i < shape.cols; ++i) cz[std::size_t(r)] += c(r, i) * z[std::size_t(i)];
    }
    REQUIRE(cz == wanted);
    REQUIRE(c.untouched());
  }
}

TEST_CASE("product: aT a into one triangle leaves the other alone", "[kernels][product]") {
  const int size = GENERATE(0, 1, 191, 192, 193, 400);
  const int rows = GENERATE(0, 1, 5);
  const bool upper = GENERATE(false, true);
  std::mt19937 random(2);
  const auto a = filled(rows, size, [&] { return float(int(random() % 7) - 3); });
  for (const int threads : {1, 2}) {
    CAPTURE(size, rows, upper, threads);
    const test::ThreadCount with(threads);
    auto c = filled(size, size, [] { return 100.0f; });
    (upper ? cpu::add_gram_upper : cpu::add_gram_lower)(-1.0f, a.read(), c.view());
    int wrong = 0;
    for (int r = 0; r < size; ++r) {
      for (int i = 0; i < size; ++i) {
        float expected = 100.0f;
        if (upper ? i >= r : i <= r) {
          for (int k = 0; k < rows; ++k) expected -= a(k, r) * a(k, i);
        }
        wrong += c(r, i) != expected;
      }
    }
    REQUIRE(wrong == 0);
    REQUIRE(c.untouched());
  }
}

}  // namespace engram
