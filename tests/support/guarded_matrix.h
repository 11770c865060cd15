// A matrix for kernel tests with spare columns in every row and guard elements before and after:
// a kernel that writes where it should not is caught by untouched().
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "platform/matrix_view.h"

namespace engram::test {

template <class T>
class GuardedMatrix {
 public:
  GuardedMatrix(int rows, int cols, int spare = 3)
      : rows_(rows),
        cols_(cols),
        stride_(cols + spare),
        memory_(2 * kGuard + std::size_t(rows) * stride_) {
    std::memset(static_cast<void*>(memory_.data()), kPattern, memory_.size() * sizeof(T));
  }

  MatrixView<T> view() { return {memory_.data() + kGuard, rows_, cols_, stride_}; }
  MatrixView<const T> read() const { return {memory_.data() + kGuard, rows_, cols_, stride_}; }
  T& operator()(int r, int c) { return view()(r, c); }
  const T& operator()(int r, int c) const { return read()(r, c); }
  int rows() const { return rows_; }
  int cols() const { return cols_; }

  template <class Generator>
  void fill(Generator&& next) {
    for (int r = 0; r < rows_; ++r)
      for (int c = 0; c < cols_; ++c) (*this)(r, c) = static_cast<T>(next());
  }

  // True while every guard and spare element still holds its pattern.
  bool untouched() const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(memory_.data());
    const auto is_pattern = [&](std::size_t first, std::size_t count) {
      for (std::size_t i = first * sizeof(T); i < (first + count) * sizeof(T); ++i)
        if (bytes[i] != kPattern) return false;
      return true;
    };
    for (int r = 0; r < rows_; ++r)
      if (!is_pattern(kGuard + std::size_t(r) * stride_ + cols_, stride_ - cols_)) return false;
    return is_pattern(0, kGuard) && is_pattern(memory_.size() - kGuard, kGuard);
  }

  // Bit by bit, guards included.
  friend bool operator==(const GuardedMatrix& a, const GuardedMatrix& b) {
    return a.memory_.size() == b.memory_.size() &&
           (a.memory_.empty() ||
            std::memcmp(a.memory_.data(), b.memory_.data(), a.memory_.size() * sizeof(T)) == 0);
  }

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr unsigned char kPattern = 0xa5;
  int rows_, cols_, stride_;
  std::vector<T> memory_;
};

}  // namespace engram::test
