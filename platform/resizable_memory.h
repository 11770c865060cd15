// One large piece of memory that changes its size and keeps what it holds.
//
// On the machine by realloc, which moves large pieces by their page table: old and new are not
// there at once. Where a device computes (set_buffer_memory) both are, for a moment.
#pragma once

#include <cstddef>

namespace engram {

struct DeviceMemory;

class ResizableMemory {
 public:
  ResizableMemory() = default;
  ResizableMemory(ResizableMemory&& other) noexcept { swap(other); }
  ResizableMemory& operator=(ResizableMemory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~ResizableMemory();

  // False: the machine refused, and nothing has changed. New room holds anything.
  [[nodiscard]] bool resize(std::size_t bytes);
  void* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  void swap(ResizableMemory& other) noexcept;

  void* data_ = nullptr;
  std::size_t size_ = 0;
  const DeviceMemory* source_ = nullptr;  // of data_; null: the machine
};

}  // namespace engram
