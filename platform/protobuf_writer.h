// Protobuf's wire format, the kinds of field that ONNX needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace engram {

inline void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

inline void put_whole(std::string& out, int field, std::int64_t value) {
  put_varint(out, static_cast<std::uint64_t>(field) << 3);
  put_varint(out, static_cast<std::uint64_t>(value));
}

inline void put_float(std::string& out, int field, float value) {
  put_varint(out, static_cast<std::uint64_t>(field) << 3 | 5);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);  // little-endian, as we are
}

inline void put_bytes(std::string& out, int field, std::string_view bytes) {
  put_varint(out, static_cast<std::uint64_t>(field) << 3 | 2);
  put_varint(out, bytes.size());
  out.append(bytes);
}

inline void put_bytes(std::string& out, int field, std::span<const std::byte> bytes) {
  put_bytes(out, field,
            std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace engram
