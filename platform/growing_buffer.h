// Bytes that grow by doubling: memory for what cannot be known at start (classes, samples of a
// task).
//
// Growing is the only moment at which memory is taken, it can fail, and then nothing has changed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "platform/arena.h"
#include "platform/status.h"

namespace engram {

class GrowingBuffer {
 public:
  // Room for `bytes` in all, without changing size(). New room holds zeros.
  Status reserve(std::size_t bytes) {
    if (bytes <= capacity_) return {};
    const std::size_t capacity = std::max(bytes, 2 * capacity_);
    ENGRAM_ASSIGN(Arena memory, Arena::create(Arena::bytes_for(capacity, 1)));
    auto* data = memory.take<std::byte>(capacity);
    if (size_ > 0) std::memcpy(data, data_, size_);
    memory_ = std::move(memory);
    data_ = data;
    capacity_ = capacity;
    return {};
  }
  // Never beyond what was reserved.
  void resize(std::size_t bytes) {
    ENGRAM_CHECK(bytes <= capacity_);
    size_ = bytes;
  }
  Status append(const void* bytes, std::size_t count) {
    ENGRAM_TRY(reserve(size_ + count));
    if (count > 0) std::memcpy(data_ + size_, bytes, count);
    size_ += count;
    return {};
  }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  std::byte* data() const { return data_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  Arena memory_ = Arena::empty();
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace engram
