// An open file that is closed when this goes.
#pragma once

#include <utility>

#include <unistd.h>

namespace engram {

class Descriptor {
 public:
  explicit Descriptor(int file) : file_(file) {}  // below 0: none
  Descriptor(Descriptor&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (file_ >= 0) ::close(file_);
  }
  int get() const { return file_; }

 private:
  int file_;
};

}  // namespace engram
