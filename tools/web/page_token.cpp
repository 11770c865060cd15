#include "tools/web/page_token.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "engine/byte_io.h"
#include "platform/hash.h"
#include "platform/sentence.h"

namespace engram {
namespace {

constexpr std::size_t kDigits = 32;  // as random_token() has them

// Whole or not at all, and nobody else may read it at any time.
Status keep(const std::string& path, const std::string& token, FileSystem& files) {
  ENGRAM_TRY(make_directories(directory_of(path)));
  const std::string beside = path + ".new";
  files.unlink(beside.c_str());
  const int file = files.open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return call_failed(beside, "open", errno, "");
  const std::string text = token + "\n";
  int error = write_fully(files, file, as_bytes(text), 0);
  if (error == 0 && files.fsync(file) != 0) error = errno;
  files.close(file);
  if (error == 0 && files.rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return sync_directory(directory_of(path), files);
  files.unlink(beside.c_str());
  return call_failed(path, "write", error, "");
}

}  // namespace

std::string page_token_file(const std::string& home) {
  return home + "/page-token";
}

Result<std::string> read_page_token(const std::string& home) {
  const std::string path = page_token_file(home);
  ENGRAM_ASSIGN(const auto bytes, read_file(path, 4096));
  struct stat found;
  if (::stat(path.c_str(), &found) != 0 || (found.st_mode & 077) != 0) {
    return Status(Code::bad_data, path + ": others may read this token");
  }
  std::string token = as_text(bytes);
  if (!token.empty() && token.back() == '\n') token.pop_back();
  const bool is_token =
      token.size() == kDigits && token.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_token) return Status(Code::bad_data, path + ": this is no token");
  return token;
}

PageToken kept_page_token(const std::string& home, FileSystem& files) {
  const Result<std::string> kept = read_page_token(home);
  if (kept.ok()) return {kept.value(), ""};
  PageToken fresh{random_token(), ""};
  if (kept.status().code() != Code::not_found) {
    fresh.note = fmt::format("{} The page has a new one", sentence(kept.status().what()));
  }
  if (const Status status = keep(page_token_file(home), fresh.token, files); !status.ok()) {
    fresh.note = fmt::format("the page's token is of this start only: {}", status.what());
  }
  return fresh;
}

Result<bool> forget_page_token(const std::string& home) {
  const std::string path = page_token_file(home);
  if (::unlink(path.c_str()) == 0) {
    ENGRAM_TRY(sync_directory(home));
    return true;
  }
  if (errno == ENOENT) return false;
  return call_failed(path, "unlink", errno, "The token still counts.");
}

}  // namespace engram
