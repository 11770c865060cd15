// Little-endian numbers in byte strings: what every file format of the engine is written with.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "platform/status.h"

namespace engram {

// All machines we build for are little-endian: numbers are copied as they are.
static_assert(std::endian::native == std::endian::little);

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

inline std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline bool all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte value) { return value == std::byte{0}; });
}

class ByteWriter {
 public:
  template <class T>
  requires std::is_arithmetic_v<T>
  void put(T value) {
    const auto* start = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), start, start + sizeof(T));
  }
  void put_bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void pad_to(std::size_t size) { bytes_.resize(size); }

  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Reads what is there and remembers when something was not: check failed() once, at the end of a
// group. A read past the end gives zeros, an empty span, and failed().
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  requires std::is_arithmetic_v<T> T take() {
    T value{};
    const std::span<const std::byte> bytes = take_bytes(sizeof(T));
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  std::span<const std::byte> take_bytes(std::size_t count) {
    if (count > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const std::span<const std::byte> bytes = rest_.first(count);
    rest_ = rest_.subspan(count);
    return bytes;
  }

  std::size_t left() const { return rest_.size(); }
  bool failed() const { return failed_; }

 private:
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

// A text of at most 255 bytes: u8 length, bytes.
inline void put_short_text(ByteWriter& bytes, std::string_view text) {
  ENGRAM_CHECK(text.size() <= 255);
  bytes.put(std::uint8_t(text.size()));
  bytes.put_bytes(as_bytes(text));
}
inline std::string take_short_text(ByteReader& bytes) {
  return as_text(bytes.take_bytes(bytes.take<std::uint8_t>()));
}

}  // namespace engram
