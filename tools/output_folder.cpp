#include "tools/output_folder.h"

#include <array>
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "platform/file.h"

namespace engram {
namespace {

// Some folders can be had and take no file (/proc), and a full disk still gives names without bytes.
Status try_to_write(const std::string& folder) {
  FileSystem& files = real_files();
  const std::string path = fmt::format("{}/.engram-tries-{}", folder, ::getpid());
  const std::string kept =
      "Nothing was computed: results could not be kept here. Choose another "
      "folder with --out DIR, or make room.";
  const int file = files.open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return call_failed(path, "open", errno, kept);
  constexpr std::array<std::byte, 4096> kSome{};
  const int error = write_fully(files, file, kSome, 0);
  files.close(file);
  files.unlink(path.c_str());
  return error == 0 ? Status() : call_failed(path, "write", error, kept);
}

}  // namespace

Result<OutputFolder> OutputFolder::make(const std::string& path) {
  std::error_code ignored;
  const bool is_new = !std::filesystem::exists(path, ignored);
  ENGRAM_TRY(make_directories(path));
  OutputFolder folder(is_new ? path : std::string());
  ENGRAM_TRY(try_to_write(path));
  return folder;
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (!path_.empty())
    std::filesystem::remove(path_, ignored);  // fails, as meant, if it holds files
}

}  // namespace engram
