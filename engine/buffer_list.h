// Buffers by name, planned and taken by the same lines: without an arena the list only counts, with
// one it takes what it counted. A plan and what is really taken cannot differ.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/memory_plan.h"
#include "platform/arena.h"
#include "platform/matrix_view.h"

namespace engram {

class BufferList {
 public:
  explicit BufferList(Arena* arena) : arena_(arena) {}

  // Zeros, or while planning a view of no memory. Nothing is listed for an empty matrix.
  template <class T = float>
  MatrixView<T> take(const char* name, int rows, int cols) {
    if (rows == 0 || cols == 0) return {};
    const auto count = std::size_t(rows) * std::size_t(cols);
    const std::size_t bytes = Arena::bytes_for(count, sizeof(T));
    const char* const type = std::is_same_v<T, float> ? "float" : "int32";
    rows_.push_back({name, fmt::format("({}, {}) {}", rows, cols, type), std::int64_t(bytes),
                     Lifetime::always});
    bytes_ += std::int64_t(bytes);
    return {arena_ == nullptr ? nullptr : arena_->take<T>(count), rows, cols, cols};
  }

  std::int64_t bytes() const { return bytes_; }
  std::vector<PlannedBuffer> rows() && { return std::move(rows_); }

 private:
  Arena* arena_;
  std::vector<PlannedBuffer> rows_;
  std::int64_t bytes_ = 0;
};

}  // namespace engram
