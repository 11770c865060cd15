// The words that tables of kernel work are written in: kernel_work.cpp for what a learner does,
// kernel_work_training.cpp for what adapters are trained with, kernel_work_vit.cpp for the vision
// transformer they are in.
#pragma once

#include <cmath>
#include <span>

#include "kernels/roofline.h"

namespace engram::kernel_work_rows {

inline double up(double n, double by) {
  return std::ceil(n / by);
}

// Bytes of DRAM for an operand that is read `times` times over.
inline double again(double bytes, double times, double cache_bytes) {
  return bytes <= cache_bytes / 2 ? bytes : bytes * times;
}

struct Shape {  // in double: products of these are large
  double b, l, m, k, n, cache;
  bool whole_numbers;
  double tokens, heads;
};

// Of which the limit is all that is known: cuBLAS and cuSOLVER, and the slow way of a kernel.
inline KernelWork library(double bytes, double operations) {
  return {
      .bytes = bytes, .products = Products::floats, .least_bytes = bytes, .operations = operations};
}

// A thread for each element of a matrix, `reads` of them there and `bytes` to and from DRAM.
inline KernelWork elementwise(const char* kernel, double rows, double cols, double bytes,
                              double reads = 1) {
  return {.kernel = kernel,
          .blocks = rows * up(cols, 256),
          .primary = reads,
          .bytes = bytes * rows * cols,
          .cached_bytes = bytes * rows * cols,
          .chain = 1,
          .least_bytes = bytes * rows * cols};
}

struct Row {
  const char* name;
  bool has_batch;
  KernelWork (*work)(const Shape&);
};
KernelWork sign_project_work(const Shape& s);  // kernel_work_sign.cpp
std::span<const Row> training_rows();          // kernel_work_training.cpp
std::span<const Row> transformer_rows();       // kernel_work_vit.cpp

}  // namespace engram::kernel_work_rows
