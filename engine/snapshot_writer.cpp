#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "engine/byte_io.h"
#include "engine/snapshot.h"
#include "engine/snapshot_layout.h"
#include "platform/hash.h"

namespace engram {

struct SnapshotWriter::Impl {
  std::string path;
  std::string beside;
  FileSystem* files = nullptr;
  int file = -1;
  bool finished = false;   // whole on disk, beside
  bool published = false;  // renamed
  std::uint64_t end = snapshot_layout::kHeaderBytes;
  std::vector<snapshot_layout::Section> sections;
  Checksum64 checksum;  // of the last section, still growing

  Status append(std::span<const std::byte> bytes) {
    const int error = write_fully(*files, file, bytes, off_t(end));
    if (error != 0) return call_failed(beside, "write", error, path + " is as it was.");
    end += bytes.size();
    return {};
  }
  void close_section() {
    if (!sections.empty()) sections.back().checksum = checksum.value();
  }
  std::vector<std::byte> header() const {
    ByteWriter header;
    header.put_bytes(as_bytes(snapshot_layout::kMagic));
    header.put(snapshot_layout::kVersion);
    header.put(std::uint32_t(sections.size()));
    header.put(end);
    for (const snapshot_layout::Section& section : sections) {
      std::string name = section.name;
      name.resize(snapshot_layout::kNameBytes);
      header.put_bytes(as_bytes(name));
      header.put(section.offset);
      header.put(section.bytes);
      header.put(section.checksum);
    }
    header.pad_to(snapshot_layout::kChecksumAt);
    header.put(checksum64(header.bytes()));
    return header.take();
  }
};

SnapshotWriter::SnapshotWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SnapshotWriter::SnapshotWriter(SnapshotWriter&&) noexcept = default;
SnapshotWriter& SnapshotWriter::operator=(SnapshotWriter&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

SnapshotWriter::~SnapshotWriter() {
  if (!impl_) return;
  if (impl_->file >= 0) impl_->files->close(impl_->file);
  if (!impl_->published) impl_->files->unlink(impl_->beside.c_str());
}

Result<SnapshotWriter> SnapshotWriter::create(const std::string& path, FileSystem& files) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->beside = path + ".new";
  impl->files = &files;
  impl->file = files.open(impl->beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (impl->file < 0) return call_failed(impl->beside, "open", errno, path + " is as it was.");
  return SnapshotWriter(std::move(impl));
}

Status SnapshotWriter::begin_section(std::string_view name) {
  ENGRAM_CHECK(!impl_->finished);
  ENGRAM_CHECK(!name.empty() && name.size() < snapshot_layout::kNameBytes);
  ENGRAM_CHECK(impl_->sections.size() < snapshot_layout::kMaxSections);
  for (const snapshot_layout::Section& section : impl_->sections)
    ENGRAM_CHECK(section.name != name);

  impl_->close_section();
  constexpr std::array<std::byte, snapshot_layout::kAlignment> kZeros{};
  const std::uint64_t padding = snapshot_layout::aligned(impl_->end) - impl_->end;
  ENGRAM_TRY(impl_->append(std::span(kZeros).first(padding)));
  impl_->sections.push_back({.name = std::string(name), .offset = impl_->end});
  impl_->checksum = Checksum64();
  return {};
}

Status SnapshotWriter::write(std::span<const std::byte> bytes) {
  ENGRAM_CHECK(!impl_->finished && !impl_->sections.empty());
  ENGRAM_TRY(impl_->append(bytes));
  impl_->checksum.add(bytes);
  impl_->sections.back().bytes += bytes.size();
  return {};
}

Status SnapshotWriter::finish() {
  ENGRAM_CHECK(!impl_->finished);
  impl_->close_section();
  const std::string kept = impl_->path + " is as it was.";
  if (const int error = write_fully(*impl_->files, impl_->file, impl_->header(), 0); error != 0) {
    return call_failed(impl_->beside, "write", error, kept);
  }
  if (impl_->files->fsync(impl_->file) != 0) {
    return call_failed(impl_->beside, "fsync", errno, kept);
  }
  // Some file systems (NFS) report a lost write only here.
  if (impl_->files->close(std::exchange(impl_->file, -1)) != 0) {
    return call_failed(impl_->beside, "close", errno, kept);
  }
  impl_->finished = true;
  return {};
}

Status SnapshotWriter::publish() {
  ENGRAM_CHECK(impl_->finished && !impl_->published);
  if (impl_->files->rename(impl_->beside.c_str(), impl_->path.c_str()) != 0) {
    return call_failed(impl_->beside, "rename", errno, impl_->path + " is as it was.");
  }
  impl_->published = true;
  return sync_directory(directory_of(impl_->path), *impl_->files);
}

bool SnapshotWriter::published() const {
  return impl_->published;
}

Status SnapshotWriter::commit() {
  ENGRAM_TRY(finish());
  return publish();
}

}  // namespace engram
