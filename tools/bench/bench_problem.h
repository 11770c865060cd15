// Data for the microbenchmarks: one problem of every operation, and OpenBLAS on the same shapes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/gram_view.h"
#include "kernels/sign_project.h"
#include "platform/blas.h"
#include "platform/threads.h"

namespace engram::bench {

inline constexpr int kUnits[] = {2000, 5000, 10000};  // M
inline constexpr int kBatches[] = {1, 16, 48, 256};   // B
inline constexpr int kFeatures[] = {384, 768, 1280};  // L
inline constexpr int kClasses = 100;                  // K
inline constexpr float kLambda = 1e4f;

template <class T>
struct Matrix {
  Matrix(int rows_, int cols_) : rows(rows_), cols(cols_), data(std::size_t(rows_) * cols_) {}
  template <class Generator>
  Matrix(int rows_, int cols_, Generator&& next) : Matrix(rows_, cols_) {
    for (T& value : data) value = static_cast<T>(next());
  }
  MatrixView<T> view() { return {data.data(), rows, cols, cols}; }
  MatrixView<const T> read() const { return {data.data(), rows, cols, cols}; }
  int rows, cols;
  std::vector<T> data;
};

// Random numbers that cost little: a benchmark fills hundreds of megabytes.
class Random {
 public:
  std::uint32_t bits() { return static_cast<std::uint32_t>((state_ = state_ * kFactor + 1) >> 32); }
  int between(int low, int high) {
    return low + static_cast<int>(bits() % static_cast<unsigned>(high - low + 1));
  }

 private:
  static constexpr std::uint64_t kFactor = 6364136223846793005u;
  std::uint64_t state_ = 1;
};

// While one lives OpenBLAS may use as many threads as we do, which it may not otherwise (threads.h).
class YardstickThreads {
 public:
  YardstickThreads() { openblas_set_num_threads(thread_count()); }
  ~YardstickThreads() { openblas_set_num_threads(1); }
  YardstickThreads(const YardstickThreads&) = delete;
  YardstickThreads& operator=(const YardstickThreads&) = delete;
};

// The way from features to projections: signs in bits, and the same weights as floats.
struct ProjectionProblem {
  ProjectionProblem(int batch, int inputs, int units)
      : words((inputs + 31) / 32, units, [this] { return random.bits(); }),
        weights(inputs, units, [this] { return random.bits() & 1u ? 1.0f : -1.0f; }),
        features(batch, inputs, [this] { return 0.01f * float(random.between(-300, 300)); }),
        q(batch, inputs, [this] { return random.between(-127, 127); }),
        p(batch, units),
        h(batch, units) {}

  SignMatrixView signs() const { return {words.data.data(), weights.rows, weights.cols}; }
  double flops() const { return 2.0 * q.rows * weights.rows * weights.cols; }

  // OpenBLAS with weights as (L, M), which is also how `project` keeps them.
  void sgemv() {
    const YardstickThreads threads;
    cblas_sgemv(CblasRowMajor, CblasTrans, weights.rows, weights.cols, 1.0f, weights.data.data(),
                weights.cols, features.data.data(), 1, 0.0f, h.data.data(), 1);
  }
  // The same bytes taken as (M, L): the other layout a user could choose.
  void sgemv_by_unit() {
    const YardstickThreads threads;
    cblas_sgemv(CblasRowMajor, CblasNoTrans, weights.cols, weights.rows, 1.0f, weights.data.data(),
                weights.rows, features.data.data(), 1, 0.0f, h.data.data(), 1);
  }
  void sgemm() {
    const YardstickThreads threads;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, q.rows, weights.cols, weights.rows, 1.0f,
                features.data.data(), features.cols, weights.data.data(), weights.cols, 0.0f,
                h.data.data(), h.cols);
  }

  Random random;
  Matrix<std::uint32_t> words;
  Matrix<float> weights;
  Matrix<float> features;
  Matrix<std::int8_t> q;
  Matrix<std::int32_t> p;
  Matrix<float> h;
};

// Hidden units and what is learned from them.
struct LearningProblem {
  static constexpr bool without_gram = false;
  LearningProblem(int batch, int units, bool with_gram = true)
      : h(batch, units, [this] { return random.between(0, 31); }),
        labels(1, batch, [this] { return random.between(0, kClasses - 1); }),
        sums(kClasses, units),
        scores(batch, kClasses),
        gram(with_gram ? units : 0, units),
        diagonal(1, units, [] { return 1e6f; }) {}

  GramView g() { return {gram.data.data(), diagonal.data.data(), gram.rows, gram.cols}; }
  double gram_flops() const { return double(h.rows) * gram.rows * (gram.rows + 1.0); }
  double gram_bytes() const { return 4.0 * gram.rows * (gram.rows + 1.0); }  // read and written

  void ssyrk() {
    const YardstickThreads threads;
    cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, gram.rows, h.rows, 1.0f, h.data.data(),
                h.cols, 1.0f, gram.data.data(), gram.cols);
  }

  Random random;
  Matrix<float> h;
  Matrix<std::int32_t> labels;
  Matrix<float> sums;
  Matrix<float> scores;
  Matrix<float> gram;
  Matrix<float> diagonal;
};

int run_marks();  // bench_marks.cpp; the number of marks that were missed

}  // namespace engram::bench
