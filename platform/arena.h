// One arena: all long-lived buffers of a learner in one piece of memory, taken at start.
//
// Memory comes from the kernel as zeros and becomes real when it is first touched; or, where a
// device computes, from the device, within reach of CPU and GPU (set_buffer_memory). After seal() a
// request is a bug and stops the program: what runs per frame cannot allocate by accident.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

struct DeviceMemory;

class Arena {
 public:
  static constexpr std::size_t kAlignment = 64;  // a cache line

  // out_of_memory: the machine does not give that much.
  static Result<Arena> create(std::size_t bytes);
  static Arena empty() { return Arena(nullptr, 0); }
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  ~Arena();

  // Bytes that `count` elements take in an arena, alignment included.
  static constexpr std::size_t bytes_for(std::size_t count, std::size_t element) {
    return (count * element + kAlignment - 1) / kAlignment * kAlignment;
  }

  // Zeros. Asking for more than create was given is a bug: the plan and its user disagree.
  template <class T>
  T* take(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    return static_cast<T*>(take_bytes(bytes_for(count, sizeof(T))));
  }
  template <class T>
  MatrixView<T> take_matrix(int rows, int cols) {
    return {take<T>(std::size_t(rows) * std::size_t(cols)), rows, cols, cols};
  }

  void seal() { sealed_ = true; }
  bool sealed() const { return sealed_; }
  std::size_t size() const { return size_; }
  std::size_t used() const { return used_; }

 private:
  Arena(std::byte* memory, std::size_t size, const DeviceMemory* source = nullptr)
      : memory_(memory), size_(size), source_(source) {}
  void* take_bytes(std::size_t bytes);

  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
  const DeviceMemory* source_ = nullptr;  // null: the machine
  std::size_t used_ = 0;
  bool sealed_ = false;
};

// Where arenas come from in this process from now on: a device's memory, or null for the machine's.
void set_buffer_memory(const DeviceMemory* source);
const DeviceMemory* buffer_memory();

// Bytes of memory that this process may hope for: the machine's, or its container's limit.
std::int64_t machine_memory();
// What programs may still take of it, the file cache given back; 0: the system does not say.
std::int64_t available_memory(const std::string& root = "");

}  // namespace engram
