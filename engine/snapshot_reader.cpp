#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/byte_io.h"
#include "engine/snapshot.h"
#include "engine/snapshot_layout.h"
#include "platform/hash.h"

namespace engram {

namespace {

Status damaged_snapshot(const std::string& name, const std::string& what) {
  return Status(Code::bad_data, fmt::format("{}: {}. Nothing was changed.", name, what));
}

// The table's text: a name of 1..15 bytes, then zeros to the end.
std::optional<std::string> section_name(std::span<const std::byte> bytes) {
  const std::string text = as_text(bytes);
  const std::string name = text.substr(0, text.find('\0'));
  if (name.empty() || name.size() >= snapshot_layout::kNameBytes) return std::nullopt;
  if (!all_zero(bytes.subspan(name.size()))) return std::nullopt;
  return name;
}

// The table of an intact header, checked against the file's size; not the sections' content.
Result<std::vector<snapshot_layout::Section>> read_table(std::span<const std::byte> file,
                                                         const std::string& name) {
  if (file.size() < snapshot_layout::kHeaderBytes) {
    return damaged_snapshot(name,
                            fmt::format("ends after {} bytes, within its header", file.size()));
  }
  const std::span<const std::byte> header = file.first(snapshot_layout::kHeaderBytes);
  if (as_text(header.first(snapshot_layout::kMagic.size())) != snapshot_layout::kMagic) {
    return damaged_snapshot(name, "is not an Engram state file, or its first bytes are damaged");
  }
  if (ByteReader(header.subspan(snapshot_layout::kChecksumAt)).take<std::uint64_t>() !=
      checksum64(header.first(snapshot_layout::kChecksumAt))) {
    return damaged_snapshot(name, "has a damaged header (its checksum does not match)");
  }
  ByteReader reader(
      header.first(snapshot_layout::kChecksumAt).subspan(snapshot_layout::kMagic.size()));
  const auto version = reader.take<std::uint32_t>();
  if (version < snapshot_layout::kOldestVersion) {
    return damaged_snapshot(name, fmt::format("has an impossible format, {}", version));
  }
  if (version > snapshot_layout::kVersion) {
    return Status(
        Code::not_supported,
        fmt::format("{}: was written by a newer version of Engram (format {}, this program "
                    "reads formats {} to {}). Nothing was changed; update Engram.",
                    name, version, snapshot_layout::kOldestVersion, snapshot_layout::kVersion));
  }
  const auto count = reader.take<std::uint32_t>();
  const auto size = reader.take<std::uint64_t>();
  if (size != file.size()) {
    return damaged_snapshot(
        name, fmt::format("has {} bytes where its header says {}", file.size(), size));
  }
  if (count > snapshot_layout::kMaxSections)
    return damaged_snapshot(name, "has more sections than the format allows");

  std::vector<snapshot_layout::Section> sections;
  std::uint64_t end = snapshot_layout::kHeaderBytes;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::optional<std::string> section =
        section_name(reader.take_bytes(snapshot_layout::kNameBytes));
    const auto offset = reader.take<std::uint64_t>();
    const auto bytes = reader.take<std::uint64_t>();
    const auto checksum = reader.take<std::uint64_t>();
    // end <= size and offset == snapshot_layout::aligned(end): nothing below overflows.
    if (!section || offset != snapshot_layout::aligned(end) || offset > size ||
        bytes > size - offset) {
      return damaged_snapshot(name, fmt::format("has an impossible entry {} in its table", i));
    }
    if (std::ranges::count(sections, *section, &snapshot_layout::Section::name) != 0) {
      return damaged_snapshot(name, fmt::format("names the section '{}' twice", *section));
    }
    sections.push_back({*section, offset, bytes, checksum});
    end = offset + bytes;
  }
  if (end != size) return damaged_snapshot(name, "has bytes that belong to no section");
  if (!all_zero(reader.take_bytes(reader.left()))) {
    return damaged_snapshot(name, "has bytes behind its table");
  }
  return sections;
}

}  // namespace

struct SnapshotReader::Impl {
  std::string path;
  std::string advice;             // empty, or what to do about damage
  std::optional<MappedFile> map;  // none: the bytes are the caller's
  std::span<const std::byte> file;
  std::vector<snapshot_layout::Section> sections;

  Status check() {
    ENGRAM_ASSIGN(sections, read_table(file, path));
    std::uint64_t end = snapshot_layout::kHeaderBytes;
    for (const snapshot_layout::Section& section : sections) {
      if (!all_zero(file.subspan(end, section.offset - end))) {
        return damaged_snapshot(
            path,
            fmt::format("has bytes before the section '{}' that should be zero", section.name));
      }
      if (checksum64(file.subspan(section.offset, section.bytes)) != section.checksum) {
        return damaged_snapshot(
            path,
            fmt::format("has a damaged section '{}' (its checksum does not match)", section.name));
      }
      end = section.offset + section.bytes;
    }
    return {};
  }
  Status advised(const Status& status) const {
    if (status.code() != Code::bad_data || advice.empty()) return status;
    return Status(Code::bad_data, fmt::format("{} {}", status.what(), advice));
  }
};

SnapshotReader::SnapshotReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SnapshotReader::SnapshotReader(SnapshotReader&&) noexcept = default;
SnapshotReader& SnapshotReader::operator=(SnapshotReader&&) noexcept = default;
SnapshotReader::~SnapshotReader() = default;

Result<SnapshotReader> SnapshotReader::open(const std::string& path, std::string advice) {
  ENGRAM_ASSIGN(MappedFile map, MappedFile::open(path));
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->advice = std::move(advice);
  impl->map = std::move(map);
  impl->file = impl->map->bytes();
  ENGRAM_TRY(impl->advised(impl->check()));
  return SnapshotReader(std::move(impl));
}

Result<SnapshotReader> SnapshotReader::parse(std::span<const std::byte> bytes, std::string name) {
  auto impl = std::make_unique<Impl>();
  impl->path = std::move(name);
  impl->file = bytes;
  ENGRAM_TRY(impl->check());
  return SnapshotReader(std::move(impl));
}

bool SnapshotReader::has(std::string_view name) const {
  return std::ranges::count(impl_->sections, name, &snapshot_layout::Section::name) != 0;
}

Result<std::span<const std::byte>> SnapshotReader::section(std::string_view name) const {
  const auto section = std::ranges::find(impl_->sections, name, &snapshot_layout::Section::name);
  if (section == impl_->sections.end()) {
    return impl_->advised(damaged_snapshot(impl_->path, fmt::format("has no section '{}'", name)));
  }
  return impl_->file.subspan(section->offset, section->bytes);
}

const std::string& SnapshotReader::path() const {
  return impl_->path;
}

}  // namespace engram
