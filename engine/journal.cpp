#include "engine/journal.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/byte_io.h"
#include "engine/journal_layout.h"
#include "platform/hash.h"

namespace engram {

namespace {

std::vector<std::byte> header_bytes(const JournalHeader& header) {
  ByteWriter bytes;
  bytes.put_bytes(as_bytes(journal_layout::kMagic));
  bytes.put(journal_layout::kVersion);
  bytes.put(std::uint32_t{0});
  bytes.put(header.state);
  bytes.put(header.base);
  bytes.pad_to(journal_layout::kHeaderChecksumAt);
  bytes.put(checksum64(bytes.bytes()));
  return bytes.take();
}

}  // namespace

struct Journal::Impl {
  std::string path;
  FileSystem* files = nullptr;
  int file = -1;
  std::uint64_t state = 0;
  std::int64_t sequence = 0;
  std::size_t end = 0;
  std::size_t limit = kMaxJournalBytes;
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
  return replace_file(path, header_bytes(header), files);
}

Result<Journal> Journal::open(const std::string& path, const JournalScan& scan, FileSystem& files,
                              std::size_t limit) {
  ENGRAM_CHECK(limit <= kMaxJournalBytes);
  auto impl = std::make_unique<Impl>();
  impl->limit = limit;
  impl->path = path;
  impl->files = &files;
  impl->state = scan.header.state;
  impl->sequence = scan.sequence();
  impl->end = impl->end_before = scan.end;
  impl->file = files.open(path.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (impl->file < 0) return call_failed(path, "open", errno, "Nothing was changed.");
  Journal journal(std::move(impl));  // closes the file on a failure
  if (scan.torn > 0) {
    ENGRAM_TRY(journal.impl_->cut(scan.end));
  } else if (files.fsync(journal.impl_->file) != 0) {
    return call_failed(path, "fsync", errno, "Nothing was changed.");
  }
  return journal;
}

Status Journal::append(std::uint32_t kind, std::span<const std::byte> payload) {
  ENGRAM_CHECK(payload.size() <= kMaxJournalPayload);
  if (!has_room(payload.size())) {
    return Status(
        Code::io_failure,
        fmt::format("{}: is full ({} bytes). The state is as it was before; it takes no more "
                    "until it is compacted.",
                    impl_->path, impl_->end));
  }
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
                       "The state is as it was before this write; free space or check the disk.");
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

Status Journal::start_over(std::int64_t base) {
  ENGRAM_CHECK(base >= impl_->sequence);
  // As replace_file, but the new file stays open: the old one has no name afterwards, and a record
  // appended to it would be lost.
  const std::string beside = impl_->path + ".new";
  FileSystem& files = *impl_->files;
  const std::string kept = impl_->path + " is as it was.";
  const int file = files.open(beside.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return call_failed(beside, "open", errno, kept);
  const char* call = "write";
  int error = write_fully(files, file, header_bytes({impl_->state, base}), 0);
  if (error == 0 && files.fsync(file) != 0) {
    call = "fsync";
    error = errno;
  }
  if (error == 0 && files.rename(beside.c_str(), impl_->path.c_str()) != 0) {
    call = "rename";
    error = errno;
  }
  if (error != 0) {
    files.close(file);
    files.unlink(beside.c_str());
    return call_failed(beside, call, error, kept);
  }
  files.close(std::exchange(impl_->file, file));  // read to the end and replaced: nothing to lose
  impl_->end = impl_->end_before = journal_layout::kHeaderBytes;
  impl_->sequence = base;
  const Status status = sync_directory(directory_of(impl_->path), files);
  // A power cut could bring the old journal back, without what would be appended to this one.
  if (!status.ok()) impl_->usable = false;
  return status;
}

bool Journal::has_room(std::size_t payload_bytes) const {
  const std::size_t record =
      journal_layout::kRecordHeaderBytes + payload_bytes + journal_layout::kRecordTrailerBytes;
  return impl_->end + record <= impl_->limit;
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
