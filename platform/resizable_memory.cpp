#include "platform/resizable_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "platform/arena.h"
#include "platform/device_staging.h"

namespace engram {

ResizableMemory::~ResizableMemory() {
  if (source_ != nullptr) {
    source_->release(data_, size_);
  } else {
    std::free(data_);
  }
}

void ResizableMemory::swap(ResizableMemory& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(source_, other.source_);
}

bool ResizableMemory::resize(std::size_t bytes) {
  const DeviceMemory* const source = buffer_memory();
  if (source == nullptr && source_ == nullptr) {
    void* const data = std::realloc(data_, bytes);
    if (data == nullptr) return false;
    data_ = data;
    size_ = bytes;
    return true;
  }
  ResizableMemory larger;
  if (source != nullptr) {
    const Result<void*> data = allocate_noted(*source, bytes);
    if (!data.ok()) return false;
    larger.data_ = data.value();
  } else if (larger.data_ = std::malloc(bytes); larger.data_ == nullptr) {
    return false;
  }
  larger.source_ = source;
  larger.size_ = bytes;
  if (size_ > 0) std::memcpy(larger.data_, data_, std::min(size_, bytes));
  swap(larger);
  return true;
}

}  // namespace engram
