#include "engine/journal.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "engine/byte_io.h"
#include "engine/journal_layout.h"
#include "platform/hash.h"

namespace engram {

using namespace journal_layout;

struct Journal::Impl {
  std::string path;
  FileSystem* files = nullptr;
  int file = -1;
  std::int64_t sequence = 0;
  std::size_t end = 0;
  std::size_t end_before = 0;  // the last append; equal to end: nothing to take back
  bool usable = true;

  // Makes the file end at `size`, durably. A failure makes the journal unusable: what lies behind
  // `size` could come back as a record that nobody was told of.
  Status cut(std::size_t size) {
    const char* call = "ftruncate";
    int error = files->ftruncate(file, off_t(size)) == 0 ? 0 : errno;
    if (error == 0 && files->fsync(file) != 0) {
      call = "fsync";
      error = errno;
    }
    if (error == 0) return {};
    usable = false;
    return call_failed(path, call, error,
                       "The last write could not be undone, so nothing more is written by this "
                       "process. What was acknowledged before is safe; the last batch may be there "
                       "or not. Free the disk, open the state again and look.");
  }
};

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}
Journal::~Journal() {
  if (impl_) impl_->files->close(impl_->file);
}

Status Journal::create(const std::string& path, const JournalHeader& header, FileSystem& files) {
  ByteWriter bytes;
  bytes.put_bytes(as_bytes(kMagic));
  bytes.put(kVersion);
  bytes.put(std::uint32_t{0});
  bytes.put(header.state);
  bytes.put(header.base);
  bytes.pad_to(kHeaderChecksumAt);
  bytes.put(checksum64(bytes.bytes()));
  return replace_file(path, bytes.bytes(), files);
}

Result<Journal> Journal::open(const std::string& path, const JournalScan& scan, FileSystem& files) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->files = &files;
  impl->sequence = scan.sequence();
  impl->end = impl->end_before = scan.end;
  impl->file = files.open(path.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (impl->file < 0) return call_failed(path, "open", errno, "Nothing was changed.");
  Journal journal(std::move(impl));  // closes the file if the cut fails
  if (scan.torn > 0) ENGRAM_TRY(journal.impl_->cut(scan.end));
  return journal;
}

Status Journal::append(std::uint32_t kind, std::span<const std::byte> payload) {
  ENGRAM_CHECK(payload.size() <= kMaxJournalPayload);
  if (!impl_->usable) {
    return Status(
        Code::io_failure,
        fmt::format("{}: an earlier write failed and could not be undone, so nothing more "
                    "is written by this process. Open the state again.",
                    impl_->path));
  }
  ByteWriter record;
  record.put(impl_->sequence + 1);
  record.put(kind);
  record.put(std::uint32_t(payload.size()));
  record.put(checksum64(record.bytes()));
  record.put_bytes(payload);
  record.put(checksum64(record.bytes()));

  const char* call = "write";
  int error = write_fully(*impl_->files, impl_->file, record.bytes(), off_t(impl_->end));
  if (error == 0 && impl_->files->fsync(impl_->file) != 0) {
    call = "fsync";
    error = errno;
  }
  if (error != 0) {
    ENGRAM_TRY(impl_->cut(impl_->end));
    return call_failed(impl_->path, call, error,
                       "The state is as it was before; free space or check the disk, then repeat.");
  }
  impl_->end_before = impl_->end;
  impl_->end += record.bytes().size();
  ++impl_->sequence;
  return {};
}

Status Journal::take_back() {
  ENGRAM_CHECK(impl_->end_before < impl_->end);
  ENGRAM_TRY(impl_->cut(impl_->end_before));
  impl_->end = impl_->end_before;
  --impl_->sequence;
  return {};
}

bool Journal::usable() const {
  return impl_->usable;
}
std::int64_t Journal::sequence() const {
  return impl_->sequence;
}
std::int64_t Journal::bytes() const {
  return std::int64_t(impl_->end);
}

}  // namespace engram
