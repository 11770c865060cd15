// The names of a snapshot's sections in their order, from its own table: a test that copies a file section
// by section would leave out what a later version adds, had it a list of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/byte_io.h"
#include "engine/snapshot_layout.h"
#include "platform/file.h"

namespace engram::test {

inline std::vector<std::string> section_names(const std::string& path) {
  using namespace snapshot_layout;
  const std::vector<std::byte> file = read_file(path, std::size_t{1} << 24).value();
  ByteReader header(file);
  header.take_bytes(kMagic.size() + sizeof kVersion);
  const auto count = header.take<std::uint32_t>();
  header.take<std::uint64_t>();  // the file's size
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string name = as_text(header.take_bytes(kNameBytes));
    names.push_back(name.substr(0, name.find('\0')));
    header.take_bytes(3 * sizeof(std::uint64_t));  // where it is, its size, its checksum
  }
  return names;
}

}  // namespace engram::test
