#include "engine/kernel_matrix.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "kernels/kernels.h"

namespace engram {

int KernelMatrix::capacity_for(int samples, int capacity) {
  constexpr int kStep = 64;
  if (samples <= capacity) return capacity;
  const int wanted = std::max(samples, capacity + capacity / kStep);
  return (wanted + kStep - 1) / kStep * kStep;
}

Status KernelMatrix::reserve(int samples) {
  const int capacity = capacity_for(samples, capacity_);
  if (capacity == capacity_) return {};
  ENGRAM_TRY(diagonal_.reserve(sizeof(float) * std::size_t(capacity)));
  const std::size_t bytes = sizeof(float) * std::size_t(capacity) * std::size_t(capacity);
  if (!memory_.resize(bytes)) {
    return Status(Code::out_of_memory,
                  fmt::format("The machine refused {} MiB of memory for the kernel matrix of {} "
                              "samples. Nothing was changed; close other programs.",
                              bytes >> 20, samples));
  }
  // From the last row on, so that no row is overwritten before it has moved.
  for (int r = size_ - 1; r > 0; --r) {
    std::memmove(data() + std::ptrdiff_t{capacity} * r, data() + std::ptrdiff_t{capacity_} * r,
                 sizeof(float) * std::size_t(size_));
  }
  capacity_ = capacity;
  return {};
}

Status KernelMatrix::append(const Kernels& kernels, const KeptSamples& kept) {
  constexpr int kBlock = KeptSamples::kBlockRows;
  ENGRAM_CHECK(kept.size() <= capacity_);
  while (size_ < kept.size()) {
    const int own = size_ / kBlock, start = size_ - own * kBlock;
    const int count = kept.block_size(own) - start;
    const KeptView fresh = kept.block_hidden(own).row_range(start, count);
    float* rows = data() + std::ptrdiff_t{capacity_} * size_;
    for (int block = 0; block <= own; ++block) {
      const KeptView other = kept.block_hidden(block);
      const MatrixView<float> k{rows + block * kBlock, count, other.rows, capacity_};
      ENGRAM_TRY(kernels.kernel_rows(Stream{}, fresh, other, k));
    }
    diagonal_.resize(sizeof(float) * std::size_t(size_ + count));
    for (int i = 0; i < count; ++i) {
      diagonal_.as<float>()[size_ + i] = rows[std::ptrdiff_t{capacity_} * i + size_ + i];
    }
    size_ += count;
  }
  return {};
}

void KernelMatrix::remove(std::span<const int> indices) {
  float* diagonal = diagonal_.as<float>();
  const auto stays = [&](int index) {
    return !std::binary_search(indices.begin(), indices.end(), index);
  };
  int to = 0;
  for (int r = 0; r < size_; ++r) {
    if (!stays(r)) continue;
    const float* from = data() + std::ptrdiff_t{capacity_} * r;
    float* row = data() + std::ptrdiff_t{capacity_} * to;
    int col = 0;
    std::size_t next = 0;
    for (int c = 0; c < r; ++c) {
      if (next < indices.size() && indices[next] == c) {
        ++next;
      } else {
        row[col++] = from[c];
      }
    }
    diagonal[to++] = diagonal[r];
  }
  size_ = to;
  drop_factor();
  diagonal_.resize(sizeof(float) * std::size_t(size_));
}

}  // namespace engram
