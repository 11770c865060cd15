// std::vector in the memory of arenas: the machine's, or the device's where one computes
// (set_buffer_memory), so that operations reach it without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "platform/arena.h"
#include "platform/device_staging.h"

namespace engram {

enum class BufferUse : std::uint8_t {
  computing,  // of one side at a time, where the device wants that
  shared,     // of all threads and the device at once
};

template <class T, BufferUse kUse = BufferUse::computing>
class BufferAllocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  template <class Other>
  struct rebind {
    using other = BufferAllocator<Other, kUse>;
  };

  BufferAllocator() : source_(buffer_memory()) {}
  template <class Other>
  BufferAllocator(const BufferAllocator<Other, kUse>& other) : source_(other.source()) {}  // NOLINT
  // A copy lies where buffers lie now: the device of the original may be lost.
  BufferAllocator select_on_container_copy_construction() const { return {}; }

  T* allocate(std::size_t count) {
    if (source_ == nullptr) return static_cast<T*>(::operator new(count * sizeof(T)));
    const Result<void*> memory =
        allocate_noted(*source_, count * sizeof(T), kUse == BufferUse::shared);
    if (!memory.ok()) throw std::bad_alloc();  // also of a lost device: who catches it asks
    return static_cast<T*>(memory.value());
  }
  void deallocate(T* memory, std::size_t count) {
    if (source_ == nullptr) {
      ::operator delete(memory);
    } else {
      constexpr bool kShared = kUse == BufferUse::shared;
      (kShared ? source_->release_shared : source_->release)(memory, count * sizeof(T));
    }
  }

  const DeviceMemory* source() const { return source_; }
  bool operator==(const BufferAllocator& other) const = default;

 private:
  const DeviceMemory* source_;
};

template <class T>
using BufferVector = std::vector<T, BufferAllocator<T>>;
template <class T>
using SharedVector = std::vector<T, BufferAllocator<T, BufferUse::shared>>;

}  // namespace engram
