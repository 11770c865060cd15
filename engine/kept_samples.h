// Samples that are kept: encoded row, class and number of each, and their hidden units where wanted.
//
//   name     of each sample                                    for
//   row      a SampleBatch's row: L bytes, or L floats         saving, lambda rules
//   hidden   M bytes (exact) or M floats (floating), or none   the kernel matrix, readouts
//   class    int32                                             everything
//   id       int64, ascending: its number in the learner       undo
//
// Rows and hidden units lie in blocks of 128 samples: growth takes one block more and moves nothing
// that is there. Without a projection (hidden = 0) the floats of the row are its hidden units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/config.h"
#include "kernels/kept_view.h"
#include "platform/arena.h"
#include "platform/growing_buffer.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

class KeptSamples {
 public:
  static constexpr int kBlockRows = 128;

  KeptSamples(const LearnerConfig& config, bool with_hidden);

  // Room for `count` samples in all; after a failure everything is as before.
  Status reserve(std::size_t count);
  // Into reserved room: cannot fail. rows: h.rows encoded rows. ids: first_id, first_id + 1, ...
  void append(const std::byte* rows, MatrixView<const float> h,
              std::span<const std::int32_t> classes, std::int64_t first_id);
  // `indices` ascending. The others move up.
  void remove(std::span<const int> indices);
  void relabel(int index, std::int32_t to);
  // Class c becomes new_index[c].
  void renumber_classes(std::span<const std::int32_t> new_index);
  void clear();

  int size() const { return size_; }
  std::size_t row_bytes() const { return row_bytes_; }
  const std::byte* row(int index) const;
  std::span<const std::int32_t> classes() const {
    return {classes_.as<std::int32_t>(), std::size_t(size_)};
  }
  std::span<const std::int64_t> ids() const {
    return {ids_.as<std::int64_t>(), std::size_t(size_)};
  }

  // Block b holds the samples from b * kBlockRows on.
  int blocks() const { return (size_ + kBlockRows - 1) / kBlockRows; }
  int block_size(int block) const { return std::min(kBlockRows, size_ - block * kBlockRows); }
  std::span<const std::byte> block_rows(int block) const;
  KeptView block_hidden(int block) const;  // only where hidden units are kept
  // Hidden units of samples [first, first + h.rows) as floats.
  void widen(int first, MatrixView<float> h) const;

 private:
  enum class Hidden : std::uint8_t { none, bytes, floats, rows };
  struct Block {
    Arena memory = Arena::empty();
    std::byte* rows = nullptr;
    std::byte* hidden = nullptr;
  };
  std::size_t hidden_bytes() const;  // of one sample, beside its row
  void copy_sample(int from, int to);

  std::size_t row_bytes_;
  int units_;
  Hidden hidden_;
  std::vector<Block> blocks_;
  GrowingBuffer classes_;
  GrowingBuffer ids_;
  int size_ = 0;
};

}  // namespace engram
