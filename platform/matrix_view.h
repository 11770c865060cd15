// A borrowed, row-major matrix in *backend* memory. It owns nothing; copy it freely (24 bytes).
//
// Type tells where memory lives: std::span is host memory, MatrixView is memory of the backend that
// will run the kernel (host memory for cpu, device memory for cuda). Only the code that owns a
// backend's memory turns one into the other, so a device pointer cannot reach host code by
// accident.
//
// Units: rows, cols and stride count elements, never bytes.
#pragma once

#include <cstddef>
#include <type_traits>

#if defined(__CUDACC__)
#define ENGRAM_HOST_DEVICE __host__ __device__
#else
#define ENGRAM_HOST_DEVICE
#endif

namespace engram {

template <class T>
struct MatrixView {
  T* data = nullptr;
  int rows = 0;
  int cols = 0;
  int stride = 0;  // elements from one row to the next; stride >= cols

  // Offsets are 64-bit: a 50 000 x 50 000 Gram matrix does not fit an int.
  ENGRAM_HOST_DEVICE T* row(int r) const { return data + std::ptrdiff_t{stride} * r; }
  ENGRAM_HOST_DEVICE T& operator()(int r, int c) const { return row(r)[c]; }

  // Rows [first, first + count).
  ENGRAM_HOST_DEVICE MatrixView row_range(int first, int count) const {
    return {row(first), count, cols, stride};
  }

  // A view that may write converts to one that may only read.
  template <class ReadOnly>
  requires(std::is_same_v<ReadOnly, const T> && !std::is_const_v<T>) operator MatrixView<ReadOnly>()
      const {
    return {data, rows, cols, stride};
  }
};

}  // namespace engram
