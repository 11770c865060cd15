// ZIP archives, NumPy arrays and pickles made by hand for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace engram::test {

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}
// `count` bytes, least significant first.
std::string little_endian(std::uint64_t value, int count);
std::string floats(const std::vector<float>& values);

struct ZipMember {
  std::string name, content;
  bool deflated = false;
};
std::string zip_archive(const std::vector<ZipMember>& members);

// A .npy file: type and shape as numpy writes them, then `data` as it is.
std::string npy(const std::string& type, const std::string& shape, const std::string& data,
                bool fortran_order = false, int version = 1);

// Pieces of a pickle of protocol 2, as PyTorch writes them.
std::string pickle(const std::string& body);  // PROTO ... STOP
std::string text(const std::string& value);   // BINUNICODE
std::string whole(std::int32_t value);        // BININT
std::string tuple(const std::vector<std::string>& items);
std::string global(const std::string& module, const std::string& name);
std::string dict(const std::vector<std::pair<std::string, std::string>>& items);

struct TensorPiece {
  std::string key = "0";      // of its storage
  std::int32_t elements = 6;  // of its storage
  std::int32_t offset = 0;
  std::vector<std::int32_t> sizes{}, strides{};
  std::string type = "FloatStorage";
};
std::string tensor(const TensorPiece& piece);

// A checkpoint of the old form: the dict of tensors, then storages in the order given.
struct Storage {
  std::string key;
  std::uint64_t elements;
  std::string content;
};
std::string legacy_checkpoint(const std::string& state, const std::vector<Storage>& storages);

}  // namespace engram::test
