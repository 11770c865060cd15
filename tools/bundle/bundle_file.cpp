#include "tools/bundle/bundle_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "platform/file.h"
#include "tools/bundle/bundle_preamble.h"

namespace engram {

namespace {

constexpr std::size_t kPart = std::size_t{1} << 20;

// Bytes of a file in parts, and their digest. bad_data: the file ended before.
Result<Digest> read_parts(int file, std::uint64_t offset, std::uint64_t size,
                          const std::string& path,
                          const std::function<Status(std::span<const std::byte>)>& use) {
  Sha256 hash;
  std::vector<std::byte> buffer(std::min<std::uint64_t>(kPart, size));
  while (size > 0) {
    const std::size_t wanted = std::min<std::uint64_t>(buffer.size(), size);
    const ssize_t count = ::pread(file, buffer.data(), wanted, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return call_failed(path, "read", errno, "Nothing was changed.");
    if (count == 0) {
      return Status(Code::bad_data, path + ": it became shorter while it was read");
    }
    const auto part = std::span<const std::byte>(buffer).first(static_cast<std::size_t>(count));
    hash.add(part);
    if (use) ENGRAM_TRY(use(part));
    offset += part.size();
    size -= part.size();
  }
  return hash.value();
}

// A file that is complete, or not there: what fill() writes goes beside it first.
Status write_beside(const std::string& to, mode_t mode, const std::function<Status(int)>& fill) {
  const std::string beside = to + ".new";
  const std::string kept = "Nothing was written.";
  FileSystem& files = real_files();
  const Descriptor file(
      files.open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode));
  if (file.get() < 0) return call_failed(beside, "open", errno, kept);
  Status done = fill(file.get());
  if (done.ok() && files.fsync(file.get()) != 0) done = call_failed(beside, "fsync", errno, kept);
  if (done.ok() && files.rename(beside.c_str(), to.c_str()) != 0) {
    done = call_failed(beside, "rename", errno, kept);
  }
  if (!done.ok()) {
    files.unlink(beside.c_str());
    return done;
  }
  return sync_directory(directory_of(to));
}

// Appends to an open file.
struct Appender {
  int file;
  std::string path;
  off_t at = 0;
  Status operator()(std::span<const std::byte> bytes) {
    if (const int error = write_fully(real_files(), file, bytes, at); error != 0) {
      return call_failed(path, "write", error, "Nothing was changed.");
    }
    at += static_cast<off_t>(bytes.size());
    return {};
  }
};

Result<std::uint64_t> size_of(int file, const std::string& path) {
  struct stat found;
  if (::fstat(file, &found) != 0) return call_failed(path, "stat", errno, "Nothing was changed.");
  return static_cast<std::uint64_t>(found.st_size);
}

}  // namespace

Result<BundleFile> BundleFile::open(const std::string& path) {
  ENGRAM_ASSIGN(const int file, open_plain_file(path));
  BundleFile bundle(path, file);
  ENGRAM_ASSIGN(const std::uint64_t size, size_of(file, path));
  std::vector<std::byte> head;
  const auto keep = [&](std::span<const std::byte> part) {
    head.insert(head.end(), part.begin(), part.end());
    return Status();
  };
  const std::uint64_t first = std::min<std::uint64_t>(size, kBundleHeadBytes);
  ENGRAM_TRY(read_parts(file, 0, first, path, keep).status());
  ENGRAM_ASSIGN(bundle.head_, parse_bundle_head(head, size, path));
  return bundle;
}

Status BundleFile::broken(const BundleEntry& entry) const {
  return Status(Code::bad_data,
                fmt::format("{}: {} in it is damaged. Nothing was changed; copy the bundle again",
                            path_, name(entry.member)));
}

Status BundleFile::check(const BundleEntry& entry) const {
  ENGRAM_ASSIGN(const Digest digest, read_parts(file_.get(), entry.offset, entry.size, path_, {}));
  return digest == entry.digest ? Status() : broken(entry);
}

Status BundleFile::take_out(const BundleEntry& entry, const std::string& to) const {
  return write_beside(to, 0600, [&](int file) -> Status {
    Appender append{.file = file, .path = to};
    ENGRAM_ASSIGN(const Digest digest, read_parts(file_.get(), entry.offset, entry.size, path_,
                                                  [&](auto part) { return append(part); }));
    return digest == entry.digest ? Status() : broken(entry);
  });
}

Result<BundleHead> write_bundle(const std::vector<BundleSource>& sources, BundleTarget target,
                                const Secret& secret, const std::string& to) {
  BundleHead head{.target = target, .key = {}, .entries = {}};
  std::vector<Descriptor> files;
  for (const BundleSource& source : sources) {
    ENGRAM_ASSIGN(const int file, open_plain_file(source.path));
    files.emplace_back(file);
    ENGRAM_ASSIGN(const std::uint64_t size, size_of(file, source.path));
    if (size == 0 || size > most_bytes(source.member)) {
      return Status(Code::bad_data,
                    fmt::format("{}: {} bytes are too {} for {} of a bundle", source.path, size,
                                size == 0 ? "few" : "many", name(source.member)));
    }
    ENGRAM_ASSIGN(const Digest digest, read_parts(file, 0, size, source.path, {}));
    head.entries.push_back({.member = source.member, .size = size, .digest = digest, .offset = 0});
  }
  const std::vector<std::byte> bytes = write_bundle_head(head, bundle_preamble(head), secret);
  // What is refused when it is read must never be written.
  ENGRAM_TRY(parse_bundle_head(bytes, head.file_size(), to).status());
  ENGRAM_TRY(write_beside(to, 0644, [&](int out) -> Status {
    Appender append{.file = out, .path = to};
    ENGRAM_TRY(append(bytes));
    for (std::size_t i = 0; i < sources.size(); ++i) {
      ENGRAM_ASSIGN(const Digest digest,
                    read_parts(files[i].get(), 0, head.entries[i].size, sources[i].path,
                               [&](auto part) { return append(part); }));
      if (digest != head.entries[i].digest) {
        return Status(Code::bad_data, sources[i].path + ": it changed while it was read");
      }
    }
    return {};
  }));
  return head;
}

}  // namespace engram
