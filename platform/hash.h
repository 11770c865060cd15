// Two hashes: sha256 names content (models, downloads), checksum64 guards it against damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "platform/status.h"

namespace engram {

std::string sha256_hex(std::span<const std::byte> bytes);  // 64 lower-case digits
Result<std::string> sha256_of_file(const std::string& path);

// XXH3-64. Incremental: feed parts in order, then value().
std::uint64_t checksum64(std::span<const std::byte> bytes);
class Checksum64 {
 public:
  Checksum64();
  Checksum64(Checksum64&&) noexcept;
  Checksum64& operator=(Checksum64&&) noexcept;
  ~Checksum64();
  void add(std::span<const std::byte> bytes);
  std::uint64_t value() const;

 private:
  void* state_;
};

}  // namespace engram
