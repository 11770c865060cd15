#include "tools/features/npy.h"

#include <bit>
#include <cstddef>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "platform/file.h"

namespace engram {
namespace {

static_assert(std::endian::native == std::endian::little, "npy headers below say little-endian");

// Magic, version, length of the header, header: padded so that the data starts at a multiple of 64.
std::vector<std::byte> npy_header(const char* type, const std::string& shape) {
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
  constexpr std::size_t kPreamble = 10;
  text.append(63 - (kPreamble + text.size()) % 64, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xFF);
  header += static_cast<char>(text.size() >> 8);
  header += text;
  std::vector<std::byte> bytes(header.size());
  std::memcpy(bytes.data(), header.data(), header.size());
  return bytes;
}

void append(std::vector<std::byte>& bytes, const void* data, std::size_t count) {
  const std::size_t old = bytes.size();
  bytes.resize(old + count);
  if (count > 0) std::memcpy(bytes.data() + old, data, count);
}

}  // namespace

Status write_npy(const std::string& path, MatrixView<const float> matrix) {
  std::vector<std::byte> bytes =
      npy_header("<f4", fmt::format("({}, {})", matrix.rows, matrix.cols));
  bytes.reserve(bytes.size() + sizeof(float) * matrix.rows * std::size_t(matrix.cols));
  for (int r = 0; r < matrix.rows; ++r) append(bytes, matrix.row(r), sizeof(float) * matrix.cols);
  return replace_file(path, bytes);
}

Status write_npy(const std::string& path, std::span<const std::int32_t> values) {
  std::vector<std::byte> bytes = npy_header("<i4", fmt::format("({},)", values.size()));
  append(bytes, values.data(), values.size_bytes());
  return replace_file(path, bytes);
}

}  // namespace engram
