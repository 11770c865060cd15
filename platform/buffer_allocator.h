// std::vector in the memory of arenas: the machine's, or the device's where one computes
// (set_buffer_memory), so that operations reach it without a copy.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "platform/arena.h"
#include "platform/device_memory.h"

namespace engram {

template <class T>
class BufferAllocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  BufferAllocator() : source_(buffer_memory()) {}
  template <class Other>
  BufferAllocator(const BufferAllocator<Other>& other) : source_(other.source()) {}  // NOLINT

  T* allocate(std::size_t count) {
    if (source_ == nullptr) return static_cast<T*>(::operator new(count * sizeof(T)));
    Result<void*> memory = source_->allocate(count * sizeof(T));
    if (!memory.ok()) throw std::bad_alloc();
    return static_cast<T*>(memory.value());
  }
  void deallocate(T* memory, std::size_t count) {
    if (source_ == nullptr) {
      ::operator delete(memory);
    } else {
      source_->release(memory, count * sizeof(T));
    }
  }

  const DeviceMemory* source() const { return source_; }
  bool operator==(const BufferAllocator& other) const = default;

 private:
  const DeviceMemory* source_;
};

template <class T>
using BufferVector = std::vector<T, BufferAllocator<T>>;

}  // namespace engram
