#include "platform/engine_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <initializer_list>
#include <string_view>

#include <fmt/format.h>

#include "platform/descriptor.h"

namespace engram {

namespace {

constexpr char kEngineMagic[] = "ENGRAMTE", kRefusalMagic[] = "ENGRAMTN";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kTagAt = 24, kHead = 56;
constexpr std::size_t kMaxEngine = std::size_t{4} << 30;
constexpr std::size_t kMaxKey = 64 * 1024;
constexpr std::int64_t kRefusedFor = 24 * 60 * 60;  // seconds

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

// The lines of a key's text that begin with one of `words`.
std::string lines_with(std::string_view key, std::initializer_list<std::string_view> words) {
  std::string found;
  while (!key.empty()) {
    const std::string_view line = key.substr(0, key.find('\n') + 1);
    if (line.empty()) break;
    for (const std::string_view word : words) {
      if (line.starts_with(word)) found += line;
    }
    key.remove_prefix(line.size());
  }
  return found;
}

// Of an engine that an update of the library or the driver has put out of use, in either precision.
bool is_outdated(std::string_view kept, std::string_view now) {
  const auto purpose = {std::string_view("model "), std::string_view("output "),
                        std::string_view("gpu "), std::string_view("input "),
                        std::string_view("batch ")};
  const auto versions = {std::string_view("library "), std::string_view("driver ")};
  return lines_with(kept, purpose) == lines_with(now, purpose) &&
         lines_with(kept, versions) != lines_with(now, versions);
}

// The key's text in a file, without a proof: good enough to remove it. Empty: there is none.
std::string key_in(const std::string& path) {
  auto opened = open_plain_file(path);
  if (!opened.ok()) return {};
  const Descriptor file(*opened);
  std::vector<std::byte> head(kHead);
  std::string text;
  if (::pread(file.get(), head.data(), kHead, 0) == ssize_t(kHead) &&
      std::memcmp(head.data(), kEngineMagic, 7) == 0) {  // of either kind
    text.resize(std::min<std::size_t>(number_at<std::uint32_t>(head, 12), kMaxKey));
    const ssize_t got = ::pread(file.get(), text.data(), text.size(), off_t(kHead));
    text.resize(std::size_t(std::max<ssize_t>(got, 0)));
  }
  return text;
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
      "model {}\noutput {}\ngpu {}\nmultiprocessors {}\nlibrary {}\ndriver {}\nprecision {}\n"
      "input {}x{}\nbatch {}\n",
      model_sha256, request.output, device.gpu, device.multiprocessors, device.library,
      device.driver, engram::name(request.precision), request.height, request.width, request.batch);
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
  return read_sealed(path(key), kEngineMagic, key);
}

Status EngineCache::write(const EngineKey& key, std::span<const std::byte> engine) const {
  ENGRAM_TRY(write_sealed(path(key), kEngineMagic, key, engine));
  forget_refusal(key);
  remove_outdated(key);
  return {};
}

std::string EngineCache::refusal_path(const EngineKey& key) const {
  return std::filesystem::path(path(key)).replace_extension(".refused").string();
}

Result<std::string> EngineCache::read_refusal(const EngineKey& key) const {
  const std::string path = refusal_path(key);
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && ::time(nullptr) - info.st_mtime > kRefusedFor) {
    return Status(Code::not_found, fmt::format("{}: is too old to count", path));
  }
  ENGRAM_ASSIGN(const std::vector<std::byte> why, read_sealed(path, kRefusalMagic, key));
  return std::string(reinterpret_cast<const char*>(why.data()), why.size());
}

Status EngineCache::write_refusal(const EngineKey& key, const std::string& why) const {
  ENGRAM_TRY(write_sealed(refusal_path(key), kRefusalMagic, key, bytes_of(why)));
  remove_outdated(key);
  return {};
}

void EngineCache::forget_refusal(const EngineKey& key) const {
  const std::string path = refusal_path(key);
  if (::access(path.c_str(), F_OK) == 0) files_->unlink(path.c_str());
}

void EngineCache::remove_outdated(const EngineKey& key) const {
  const std::string now = key.text();
  std::error_code error;  // what cannot be seen or removed stays
  for (std::filesystem::directory_iterator at(folder_, error), end; !error && at != end;
       at.increment(error)) {
    const std::string extension = at->path().extension().string(), path = at->path().string();
    if (extension != ".engine" && extension != ".refused") continue;
    if (is_outdated(key_in(path), now)) files_->unlink(path.c_str());
  }
}

Result<std::vector<std::byte>> EngineCache::read_sealed(const std::string& path, const char* magic,
                                                        const EngineKey& key) const {
  const auto wrong = [&](const char* what) {
    return Status(Code::bad_data, fmt::format("{}: {}. It is built again.", path, what));
  };
  auto content = read_file(path, kMaxEngine);
  if (!content.ok()) return content.status();
  std::vector<std::byte>& bytes = *content;
  if (bytes.size() < kHead || std::memcmp(bytes.data(), magic, 8) != 0) {
    return wrong("is not what Engram keeps there, or cut off");
  }
  if (number_at<std::uint32_t>(bytes, 8) != kVersion) {
    return wrong("is of another version of Engram");
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
    return wrong("was not made by this user on this machine, or is damaged");
  }
  const std::string text = key.text();
  if (text.size() != key_bytes || std::memcmp(body.data(), text.data(), text.size()) != 0) {
    return wrong("is for something else");
  }
  bytes.erase(bytes.begin(), bytes.begin() + std::ptrdiff_t(kHead + key_bytes));
  return std::move(bytes);
}

Status EngineCache::write_sealed(const std::string& path, const char* magic, const EngineKey& key,
                                 std::span<const std::byte> content) const {
  const std::string text = key.text();
  std::vector<std::byte> bytes(kHead);
  std::memcpy(bytes.data(), magic, 8);
  put_at(bytes, 8, kVersion);
  put_at(bytes, 12, static_cast<std::uint32_t>(text.size()));
  put_at(bytes, 16, static_cast<std::uint64_t>(content.size()));
  bytes.insert(bytes.end(), bytes_of(text).begin(), bytes_of(text).end());
  bytes.insert(bytes.end(), content.begin(), content.end());
  const SecretTag made = tag(bytes, std::span<const std::byte>(bytes).subspan(kHead));
  std::memcpy(bytes.data() + kTagAt, made.data(), made.size());
  return replace_file(path, bytes, *files_);
}

}  // namespace engram
