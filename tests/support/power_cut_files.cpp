#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>

#include "tests/support/fault_files.h"

namespace engram::test {

PowerCutFiles::PowerCutFiles(std::string directory, int at, int fail_at)
    : directory_(std::move(directory)), at_(at), fail_at_(fail_at) {
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    const std::string name = entry.path().filename().string();
    const std::vector<std::byte> bytes = read_file(entry.path().string(), SIZE_MAX).value();
    latest_names_[name] = int(nodes_.size());
    nodes_.push_back({bytes, bytes});
  }
  synced_names_ = latest_names_;
}

void PowerCutFiles::not_synced(const std::string& name, std::size_t bytes) {
  std::vector<std::byte>& synced = nodes_[latest_names_.at(name)].synced;
  ENGRAM_CHECK(bytes <= synced.size());
  synced.resize(synced.size() - bytes);
}

bool PowerCutFiles::stopped() {
  const bool stopped = (at_ >= 0 && calls_ >= at_) || calls_ == fail_at_;
  ++calls_;
  if (stopped) errno = EIO;
  return stopped;
}

std::string PowerCutFiles::name_of(const char* path) const {
  const std::filesystem::path whole(path);
  return whole.parent_path() == directory_ ? whole.filename().string() : "";
}

void PowerCutFiles::leave(Names names, Contents contents, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    std::filesystem::remove(entry.path());
  }
  for (const auto& [name, node] : names == Names::synced ? synced_names_ : latest_names_) {
    std::vector<std::byte> bytes = nodes_[node].synced;
    const std::vector<std::byte>& latest = nodes_[node].latest;
    if (contents == Contents::latest) {
      bytes = latest;
    } else if (contents == Contents::torn && latest.size() > bytes.size()) {
      const std::size_t end = bytes.size() + random() % (latest.size() - bytes.size() + 1);
      bytes.assign(latest.begin(), latest.begin() + std::ptrdiff_t(end));
    }
    FileSystem& real = real_files();
    const int file =
        real.open((directory_ + "/" + name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ENGRAM_CHECK(file >= 0 && write_fully(real, file, bytes, 0) == 0 && real.close(file) == 0);
  }
}

int PowerCutFiles::open(const char* path, int flags, mode_t mode) {
  if (stopped()) return -1;
  const int file = FileSystem::open(path, flags, mode);
  if (file < 0) return file;
  if (flags & O_DIRECTORY) {
    open_[file] = -1;
    return file;
  }
  const std::string name = name_of(path);
  ENGRAM_CHECK(!name.empty());
  if (!latest_names_.contains(name)) {
    latest_names_[name] = int(nodes_.size());
    nodes_.emplace_back();
  }
  open_[file] = latest_names_[name];
  if (flags & O_TRUNC) nodes_[open_[file]].latest.clear();
  return file;
}

ssize_t PowerCutFiles::pwrite(int file, const void* bytes, std::size_t count, off_t offset) {
  if (stopped()) return -1;
  std::vector<std::byte>& latest = nodes_[open_.at(file)].latest;
  latest.resize(std::max(latest.size(), std::size_t(offset) + count));
  std::memcpy(latest.data() + offset, bytes, count);
  return FileSystem::pwrite(file, bytes, count, offset);
}

int PowerCutFiles::fsync(int file) {
  if (stopped()) return -1;
  if (const int node = open_.at(file); node >= 0) {
    nodes_[node].synced = nodes_[node].latest;
  } else {
    synced_names_ = latest_names_;
  }
  return 0;  // the real files need not survive anything
}

int PowerCutFiles::ftruncate(int file, off_t size) {
  if (stopped()) return -1;
  nodes_[open_.at(file)].latest.resize(std::size_t(size));
  return FileSystem::ftruncate(file, size);
}

int PowerCutFiles::close(int file) {
  open_.erase(file);
  const int result = FileSystem::close(file);  // in any case: the test goes on after the cut
  return stopped() ? -1 : result;
}

int PowerCutFiles::rename(const char* from, const char* to) {
  if (stopped()) return -1;
  latest_names_[name_of(to)] = latest_names_.at(name_of(from));
  latest_names_.erase(name_of(from));
  return FileSystem::rename(from, to);
}

int PowerCutFiles::unlink(const char* path) {
  if (stopped()) return -1;
  const int result = FileSystem::unlink(path);
  if (result == 0) latest_names_.erase(name_of(path));
  return result;
}

}  // namespace engram::test
