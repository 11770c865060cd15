// The samples of the current task in encoded form: a lambda rule needs them when the task ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/growing_buffer.h"
#include "platform/status.h"

namespace engram {

class TaskSamples {
 public:
  explicit TaskSamples(std::size_t row_bytes) : row_bytes_(row_bytes) {}

  // Room for `count` samples in all.
  Status reserve(std::size_t count) {
    ENGRAM_TRY(rows_.reserve(count * row_bytes_));
    return classes_.reserve(count * sizeof(std::int32_t));
  }
  Status append(const std::byte* rows, std::span<const std::int32_t> classes) {
    ENGRAM_TRY(rows_.append(rows, classes.size() * row_bytes_));
    return classes_.append(classes.data(), classes.size_bytes());
  }
  void clear() {
    rows_.resize(0);
    classes_.resize(0);
  }

  std::size_t size() const { return classes_.size() / sizeof(std::int32_t); }
  std::size_t row_bytes() const { return row_bytes_; }
  const std::byte* row(std::size_t index) const { return rows_.data() + index * row_bytes_; }
  std::span<const std::byte> rows() const { return {rows_.data(), rows_.size()}; }
  std::span<const std::int32_t> classes() const { return {classes_.as<std::int32_t>(), size()}; }

 private:
  std::size_t row_bytes_;
  GrowingBuffer rows_;
  GrowingBuffer classes_;
};

}  // namespace engram
