#include "tools/features/npz.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/console/terminal.h"

namespace engram {
namespace {

constexpr std::size_t kMostArrayBytes = std::size_t{4} << 30;  // what the ZIP reader reads at most

}  // namespace

Result<NpzFile> NpzFile::open(const std::string& path) {
  ENGRAM_ASSIGN(MappedFile file, MappedFile::open(path));
  if (!ZipReader::looks_like_zip(file.bytes())) {
    return Status(Code::bad_data, fmt::format("{}: this is no .npz file (numpy.savez writes one).",
                                              printable(path)));
  }
  ENGRAM_ASSIGN(ZipReader zip, ZipReader::parse(file.bytes(), printable(path)));
  return NpzFile(path, std::move(file), std::move(zip));
}

std::vector<std::string> NpzFile::names() const {
  std::vector<std::string> names;
  for (const ZipReader::Member& member : zip_.members()) {
    if (member.name.ends_with(".npy"))
      names.push_back(member.name.substr(0, member.name.size() - 4));
  }
  return names;
}

Result<NpzArray> NpzFile::read(const std::string& array) const {
  const ZipReader::Member* member = find(array);
  if (member == nullptr) {
    const std::vector<std::string> there = names();
    return Status(Code::bad_data,
                  fmt::format("{}: there is no array \"{}\" in it; it has: {}.", printable(path_),
                              array, printable(fmt::format("{}", fmt::join(there, ", ")))));
  }
  ENGRAM_ASSIGN(std::vector<std::byte> bytes, zip_.read(*member, kMostArrayBytes));
  NpzArray read{std::make_unique<const std::vector<std::byte>>(std::move(bytes)), {}};
  ENGRAM_ASSIGN(read.view, NpyView::parse(*read.bytes, path_ + ": " + array));
  return read;
}

}  // namespace engram
