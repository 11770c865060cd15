// Walks protobuf's wire format without believing any of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace engram {

struct ProtobufField {
  std::uint32_t number = 0;
  bool is_bytes = false;
  std::uint64_t value = 0;           // of a number, fixed or not
  std::span<const std::byte> bytes;  // of texts, bytes, messages and packed numbers

  std::string text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

class ProtobufReader {
 public:
  explicit ProtobufReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // The next field; false at the end and when broken().
  bool next(ProtobufField& field) {
    if (broken_ || at_ == bytes_.size()) return false;
    const std::uint64_t tag = varint();
    if (broken_ || tag >> 3 == 0 || tag >> 3 > 536870911) return fail();
    field = {};
    field.number = static_cast<std::uint32_t>(tag >> 3);
    switch (tag & 7) {
      case 0:
        field.value = varint();
        return !broken_;
      case 1:
        return fixed(field, 8);
      case 5:
        return fixed(field, 4);
      case 2: {
        const std::uint64_t size = varint();
        if (broken_ || size > bytes_.size() - at_) return fail();
        field.is_bytes = true;
        field.bytes = bytes_.subspan(at_, static_cast<std::size_t>(size));
        at_ += static_cast<std::size_t>(size);
        return true;
      }
      default:
        return fail();  // groups, which ONNX never had
    }
  }
  bool broken() const { return broken_; }

  // One number, for packed lists; 0 when broken().
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ == bytes_.size()) break;
      const auto byte = std::to_integer<std::uint64_t>(bytes_[at_++]);
      if (shift < 64) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    broken_ = true;
    return 0;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  bool fail() {
    broken_ = true;
    return false;
  }
  bool fixed(ProtobufField& field, std::size_t size) {
    if (bytes_.size() - at_ < size) return fail();
    for (std::size_t i = 0; i < size; ++i) {
      field.value |= std::to_integer<std::uint64_t>(bytes_[at_++]) << (8 * i);
    }
    return true;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool broken_ = false;
};

// Numbers of a repeated field, packed or one by one.
template <class Take>
void each_whole(const ProtobufField& field, Take take) {
  if (!field.is_bytes) return take(field.value);
  for (ProtobufReader packed(field.bytes); !packed.at_end() && !packed.broken();) {
    take(packed.varint());
  }
}

}  // namespace engram
