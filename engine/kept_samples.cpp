#include "engine/kept_samples.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "engine/projection.h"

namespace engram {

KeptSamples::KeptSamples(const LearnerConfig& config, bool with_hidden)
    : row_bytes_(Projection::row_bytes(config)),
      units_(config.hidden_units()),
      hidden_(!with_hidden                             ? Hidden::none
              : config.arithmetic == Arithmetic::exact ? Hidden::bytes
              : config.hidden == 0                     ? Hidden::rows
                                                       : Hidden::floats) {}

std::size_t KeptSamples::hidden_bytes() const {
  switch (hidden_) {
    case Hidden::bytes:
      return std::size_t(units_);
    case Hidden::floats:
      return sizeof(float) * std::size_t(units_);
    case Hidden::none:
    case Hidden::rows:
      break;
  }
  return 0;
}

Status KeptSamples::reserve(std::size_t count) {
  ENGRAM_TRY(classes_.reserve(sizeof(std::int32_t) * count));
  ENGRAM_TRY(ids_.reserve(sizeof(std::int64_t) * count));
  try {
    while (blocks_.size() * kBlockRows < count) {
      Block block;
      ENGRAM_ASSIGN(block.memory, Arena::create(Arena::bytes_for(kBlockRows, row_bytes_) +
                                                Arena::bytes_for(kBlockRows, hidden_bytes())));
      block.rows = block.memory.take<std::byte>(kBlockRows * row_bytes_);
      if (hidden_ == Hidden::rows) {
        block.hidden = block.rows;
      } else if (hidden_ != Hidden::none) {
        block.hidden = block.memory.take<std::byte>(kBlockRows * hidden_bytes());
      }
      blocks_.push_back(std::move(block));
    }
    return {};
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory,
                  "The machine has no memory left to keep more samples. Nothing was changed; close "
                  "other programs.");
  }
}

void KeptSamples::append(const std::byte* rows, MatrixView<const float> h,
                         std::span<const std::int32_t> classes, std::int64_t first_id) {
  const int count = int(classes.size());
  ENGRAM_CHECK(std::size_t(size_ + count) <= blocks_.size() * kBlockRows);
  for (int b = 0; b < count; ++b) {
    const auto at = std::size_t(size_ + b) % kBlockRows;
    Block& block = blocks_[std::size_t(size_ + b) / kBlockRows];
    std::memcpy(block.rows + at * row_bytes_, rows + std::size_t(b) * row_bytes_, row_bytes_);
    std::byte* hidden = block.hidden + at * hidden_bytes();
    if (hidden_ == Hidden::floats) std::memcpy(hidden, h.row(b), hidden_bytes());
    if (hidden_ == Hidden::bytes) {
      const float* __restrict from = h.row(b);
      auto* __restrict to = reinterpret_cast<std::uint8_t*>(hidden);
      for (int m = 0; m < units_; ++m) to[m] = std::uint8_t(from[m]);
    }
    classes_.as<std::int32_t>()[size_ + b] = classes[std::size_t(b)];
    ids_.as<std::int64_t>()[size_ + b] = first_id + b;
  }
  size_ += count;
  classes_.resize(sizeof(std::int32_t) * std::size_t(size_));
  ids_.resize(sizeof(std::int64_t) * std::size_t(size_));
}

void KeptSamples::copy_sample(int from, int to) {
  const Block& source = blocks_[std::size_t(from / kBlockRows)];
  const Block& target = blocks_[std::size_t(to / kBlockRows)];
  const auto at = std::size_t(from % kBlockRows), into = std::size_t(to % kBlockRows);
  std::memcpy(target.rows + into * row_bytes_, source.rows + at * row_bytes_, row_bytes_);
  if (hidden_bytes() > 0) {
    std::memcpy(target.hidden + into * hidden_bytes(), source.hidden + at * hidden_bytes(),
                hidden_bytes());
  }
  classes_.as<std::int32_t>()[to] = classes_.as<std::int32_t>()[from];
  ids_.as<std::int64_t>()[to] = ids_.as<std::int64_t>()[from];
}

void KeptSamples::remove(std::span<const int> indices) {
  int to = 0;
  std::size_t next = 0;
  for (int from = 0; from < size_; ++from) {
    if (next < indices.size() && indices[next] == from) {
      ++next;
      continue;
    }
    if (to != from) copy_sample(from, to);
    ++to;
  }
  ENGRAM_CHECK(next == indices.size());
  size_ = to;
  classes_.resize(sizeof(std::int32_t) * std::size_t(size_));
  ids_.resize(sizeof(std::int64_t) * std::size_t(size_));
}

void KeptSamples::relabel(int index, std::int32_t to) {
  ENGRAM_CHECK(index >= 0 && index < size_);
  classes_.as<std::int32_t>()[index] = to;
}

void KeptSamples::renumber_classes(std::span<const std::int32_t> new_index) {
  for (int n = 0; n < size_; ++n) relabel(n, new_index[std::size_t(classes()[std::size_t(n)])]);
}

void KeptSamples::clear() {
  size_ = 0;
  classes_.resize(0);
  ids_.resize(0);
}

const std::byte* KeptSamples::row(int index) const {
  return blocks_[std::size_t(index / kBlockRows)].rows +
         std::size_t(index % kBlockRows) * row_bytes_;
}

std::span<const std::byte> KeptSamples::block_rows(int block) const {
  return {blocks_[std::size_t(block)].rows, std::size_t(block_size(block)) * row_bytes_};
}

KeptView KeptSamples::block_hidden(int block) const {
  ENGRAM_CHECK(hidden_ != Hidden::none);
  const std::byte* hidden = blocks_[std::size_t(block)].hidden;
  if (hidden_ == Hidden::bytes) {
    return {reinterpret_cast<const std::uint8_t*>(hidden), nullptr, block_size(block), units_};
  }
  return {nullptr, reinterpret_cast<const float*>(hidden), block_size(block), units_};
}

void KeptSamples::widen(int first, MatrixView<float> h) const {
  for (int b = 0; b < h.rows; ++b) {
    const int index = first + b;
    const KeptView kept = block_hidden(index / kBlockRows);
    const int at = index % kBlockRows;
    if (kept.bytes != nullptr) {
      std::copy_n(kept.byte_row(at), units_, h.row(b));
    } else {
      std::copy_n(kept.float_row(at), units_, h.row(b));
    }
  }
}

}  // namespace engram
