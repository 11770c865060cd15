#include "platform/engine_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace engram {

namespace {

constexpr char kMagic[] = "ENGRAMTE";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kTagAt = 24, kHead = 56;
constexpr std::size_t kMaxEngine = std::size_t{4} << 30;
constexpr std::size_t kMaxKey = 64 * 1024;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void put_at(std::vector<std::byte>& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

Status write_secret(const std::string& path, FileSystem& files) {
  const Secret secret = random_secret();
  const std::string made = fmt::format("{}.{}.new", path, ::getpid());
  const std::string kept = "Engines are not kept.";
  const int file = files.open(made.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return call_failed(made, "open", errno, kept);
  int error = write_fully(files, file, secret, 0);
  const char* call = "write";
  if (error == 0 && files.fsync(file) != 0) error = errno, call = "fsync";
  files.close(file);
  if (error == 0 && files.rename(made.c_str(), path.c_str()) != 0) error = errno, call = "rename";
  if (error == 0) return {};
  files.unlink(made.c_str());
  return call_failed(path, call, error, kept);
}

// The file's bytes, mixed with the machine's id: a copy of the whole folder on another machine opens
// nothing there.
Result<Secret> read_secret(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && (info.st_mode & 077) != 0) {
    return Status(Code::bad_data,
                  fmt::format("{}: others may read or write it, so that engines beside it prove "
                              "nothing. Engines are not kept. Remove the folder {} to begin anew.",
                              path, directory_of(path)));
  }
  ENGRAM_ASSIGN(const std::vector<std::byte> bytes, read_file(path, sizeof(Secret)));
  if (bytes.size() != sizeof(Secret)) {
    return Status(Code::bad_data,
                  fmt::format("{}: is damaged. Engines are not kept. Remove the folder {} to begin "
                              "anew.",
                              path, directory_of(path)));
  }
  Secret secret;
  std::copy(bytes.begin(), bytes.end(), secret.begin());
  SecretHash mixed(secret);
  if (const auto machine = read_file("/etc/machine-id", 4096); machine.ok()) {
    mixed.add(machine.value());
  }
  return mixed.value();
}

}  // namespace

std::string EngineKey::text() const {
  return fmt::format(
      "model {}\noutput {}\ngpu {}\nlibrary {}\nprecision {}\ninput {}x{}\nbatch {}\n",
      model_sha256, request.output, device.gpu, device.library, engram::name(request.precision),
      request.height, request.width, request.batch);
}

std::string EngineKey::file_name() const {
  const std::string key = text();
  return sha256_hex(bytes_of(key)).substr(0, 32) + ".engine";
}

Result<EngineCache> EngineCache::open(const std::string& folder, FileSystem& files) {
  ENGRAM_TRY(make_directories(folder));
  const std::string path = folder + "/secret";
  auto secret = read_secret(path);
  if (secret.status().code() == Code::not_found) {
    ENGRAM_TRY(write_secret(path, files));
    secret = read_secret(path);
  }
  if (!secret.ok()) return secret.status();
  return EngineCache(folder, *secret, files);
}

SecretTag EngineCache::tag(std::span<const std::byte> head, std::span<const std::byte> body) const {
  SecretHash hash(secret_);
  hash.add(head.first(kTagAt));
  hash.add(body);
  return hash.value();
}

Result<std::vector<std::byte>> EngineCache::read(const EngineKey& key) const {
  const std::string path = this->path(key);
  const auto wrong = [&](const char* what) {
    return Status(Code::bad_data, fmt::format("{}: {}. It is built again.", path, what));
  };
  auto content = read_file(path, kMaxEngine);
  if (!content.ok()) return content.status();
  std::vector<std::byte>& bytes = *content;
  if (bytes.size() < kHead || std::memcmp(bytes.data(), kMagic, 8) != 0) {
    return wrong("is not an engine of Engram, or cut off");
  }
  if (number_at<std::uint32_t>(bytes, 8) != kVersion) {
    return wrong("is an engine of another version of Engram");
  }
  const std::uint64_t key_bytes = number_at<std::uint32_t>(bytes, 12);
  const std::uint64_t engine_bytes = number_at<std::uint64_t>(bytes, 16);
  if (key_bytes > kMaxKey || engine_bytes > kMaxEngine ||
      kHead + key_bytes + engine_bytes != bytes.size()) {
    return wrong("is cut off or damaged");
  }
  SecretTag stored;
  std::memcpy(stored.data(), bytes.data() + kTagAt, stored.size());
  const auto body = std::span<const std::byte>(bytes).subspan(kHead);
  if (!same_tag(stored, tag(bytes, body))) {
    return wrong("was not built by this user on this machine, or is damaged");
  }
  const std::string text = key.text();
  if (text.size() != key_bytes || std::memcmp(body.data(), text.data(), text.size()) != 0) {
    return wrong("is an engine for something else");
  }
  bytes.erase(bytes.begin(), bytes.begin() + std::ptrdiff_t(kHead + key_bytes));
  return std::move(bytes);
}

Status EngineCache::write(const EngineKey& key, std::span<const std::byte> engine) const {
  const std::string text = key.text();
  std::vector<std::byte> bytes(kHead);
  std::memcpy(bytes.data(), kMagic, 8);
  put_at(bytes, 8, kVersion);
  put_at(bytes, 12, static_cast<std::uint32_t>(text.size()));
  put_at(bytes, 16, static_cast<std::uint64_t>(engine.size()));
  bytes.insert(bytes.end(), bytes_of(text).begin(), bytes_of(text).end());
  bytes.insert(bytes.end(), engine.begin(), engine.end());
  const SecretTag made = tag(bytes, std::span<const std::byte>(bytes).subspan(kHead));
  std::memcpy(bytes.data() + kTagAt, made.data(), made.size());
  return replace_file(path(key), bytes, *files_);
}

}  // namespace engram
