#include "tools/bundle/bundle_keys.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "engine/byte_io.h"
#include "platform/file.h"
#include "tools/console/terminal.h"

namespace engram {

namespace {

constexpr std::size_t kMostKeyBytes = 64 * 1024;

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string signing_key_file(const std::string& home) {
  return home + "/keys/bundle.key";
}

Result<PublicKey> make_signing_key(const std::string& home) {
  const std::string path = signing_key_file(home);
  ENGRAM_TRY(make_directories(directory_of(path)));
  // Nobody else may read it at any time, and one that is there stays.
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0 && errno == EEXIST) {
    return Status(Code::invalid_argument,
                  path + ": there is a key already; it was kept. See engram bundle key show");
  }
  if (file < 0) return call_failed(path, "open", errno, "No key was made.");
  const Secret secret = random_secret();
  const std::string text = hex_of(secret) + "\n";
  int error = write_fully(real_files(), file, as_bytes(text), 0);
  if (error == 0 && ::fsync(file) != 0) error = errno;
  ::close(file);
  if (error != 0) {
    ::unlink(path.c_str());
    return call_failed(path, "write", error, "No key was made.");
  }
  ENGRAM_TRY(sync_directory(directory_of(path)));
  return public_key_of(secret);
}

Result<Secret> read_signing_key(const std::string& home) {
  const std::string path = signing_key_file(home);
  const auto bytes = read_file(path, kMostKeyBytes);
  if (bytes.status().code() == Code::not_found) {
    return Status(Code::not_found, path +
                                       ": there is no key to sign with. Make one: engram bundle "
                                       "key new");
  }
  ENGRAM_TRY(bytes.status());
  struct stat found;
  if (::stat(path.c_str(), &found) != 0 || (found.st_mode & 077) != 0) {
    return Status(
        Code::bad_data,
        fmt::format("{0}: others may read this secret. If nobody did: chmod 600 {0}", path));
  }
  const Result<PublicKey> secret = parse_public_key(as_text(bytes.value()));  // of the same shape
  if (!secret.ok()) return Status(Code::bad_data, path + ": this is no key of engram");
  return Secret(secret.value());
}

Result<PublicKey> parse_public_key(const std::string& text) {
  PublicKey key{};
  std::size_t digits = 0;
  for (const char c : text) {
    if (c == ' ' || c == ':' || c == '-' || c == '\n') continue;
    const int value = digit(c);
    if (value < 0 || digits == 2 * key.size()) digits = 3 * key.size();  // never again right
    if (digits >= 2 * key.size()) break;
    key[digits / 2] = key[digits / 2] << 4 | std::byte(value);
    ++digits;
  }
  if (digits == 2 * key.size()) return key;
  return Status(Code::invalid_argument,
                fmt::format("\"{}\" is no key: engram bundle key show prints its 64 digits",
                            printable(text.substr(0, 80))));
}

std::string fingerprint(const PublicKey& key) {
  const std::string digits = hex_of(key);
  std::string text = digits.substr(0, 8);
  for (std::size_t at = 8; at < digits.size(); at += 8) text += "-" + digits.substr(at, 8);
  return text;
}

std::string trusted_keys_file(const std::string& root) {
  return root + "/etc/engram/bundle-keys";
}

Result<std::vector<PublicKey>> trusted_keys(const std::string& root) {
  const std::string path = trusted_keys_file(root);
  const auto bytes = read_file(path, kMostKeyBytes);
  if (bytes.status().code() == Code::not_found) return std::vector<PublicKey>();
  ENGRAM_TRY(bytes.status());
  std::istringstream lines(as_text(bytes.value()));
  std::vector<PublicKey> keys;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    const Result<PublicKey> key = parse_public_key(line);
    if (!key.ok()) {
      return Status(Code::bad_data, fmt::format("{}:{}: {}", path, number, key.status().what()));
    }
    keys.push_back(key.value());
  }
  return keys;
}

Status trust_key(const std::string& root, const PublicKey& key) {
  ENGRAM_ASSIGN(const std::vector<PublicKey> keys, trusted_keys(root));
  if (std::find(keys.begin(), keys.end(), key) != keys.end()) return {};
  const std::string path = trusted_keys_file(root);
  const auto old = read_file(path, kMostKeyBytes);
  std::string text =
      old.ok() ? as_text(old.value())
               : "# Who signs with one of these keys may change the software of this machine.\n";
  if (!text.ends_with('\n')) text += '\n';
  text += fingerprint(key) + "\n";
  ENGRAM_TRY(make_directories(directory_of(path)));
  return replace_file(path, as_bytes(text));
}

}  // namespace engram
