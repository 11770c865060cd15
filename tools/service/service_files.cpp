#include "tools/service/service_files.h"

#include <cerrno>
#include <span>

#include <unistd.h>

#include <fmt/format.h>

#include "platform/file.h"
#include "platform/hash.h"
#include "tools/service/service_texts.h"

namespace engram {

namespace {

constexpr std::size_t kMostFileBytes = 1024 * 1024;
constexpr const char* kMark = "# Written by `engram service enable`, digest ";

bool file_is_there(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string marked(const std::string& text) {
  return kMark + sha256_hex(bytes_of(text)) + "\n" + text;
}

enum class Author { nobody, we, somebody };  // nobody: there is no file

Result<Author> author_of(const std::string& path) {
  if (!file_is_there(path)) return Author::nobody;
  const auto read = read_file(path, kMostFileBytes);
  if (read.status().code() == Code::bad_data) return Author::somebody;  // masked: it is /dev/null
  ENGRAM_TRY(read.status());
  const std::vector<std::byte>& bytes = read.value();
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t end = text.find('\n');
  const bool ours = end != std::string::npos && marked(text.substr(end + 1)) == text;
  return ours ? Author::we : Author::somebody;
}

Status write_service_text(const std::string& path, const std::string& text) {
  ENGRAM_TRY(make_directories(directory_of(path)));
  ENGRAM_TRY(replace_file(path, bytes_of(text)));
  return Status();
}

Result<FileFate> install_unit(const ServicePlaces& places) {
  ENGRAM_ASSIGN(const Author author, author_of(places.unit()));
  if (author == Author::somebody) return FileFate::edited;
  if (!places.packaged_unit().empty()) {
    // One that we wrote before the package came would hide the package's.
    ENGRAM_ASSIGN(const bool removed, remove_service_unit(places));
    return removed ? FileFate::written : FileFate::kept;
  }
  const std::string text = marked(service_unit_text(places.program));
  if (author == Author::we) {
    ENGRAM_ASSIGN(const std::vector<std::byte> old, read_file(places.unit(), kMostFileBytes));
    if (std::string_view(reinterpret_cast<const char*>(old.data()), old.size()) == text) {
      return FileFate::kept;
    }
  }
  ENGRAM_TRY(write_service_text(places.unit(), text));
  return FileFate::written;
}

}  // namespace

std::string ServicePlaces::packaged_unit() const {
  for (const char* folder : {"/usr/local/lib", "/usr/lib", "/lib"}) {
    const std::string path = root + folder + "/systemd/system/" + kServiceUnit;
    if (file_is_there(path)) return path;
  }
  return {};
}

Result<ServiceFiles> install_service_files(const ServicePlaces& places) {
  ServiceFiles files;
  if (!file_is_there(places.config())) {
    ENGRAM_TRY(write_service_text(places.config(), service_config_text()));
    files.config = FileFate::written;
  }
  ENGRAM_ASSIGN(files.unit, install_unit(places));
  files.unit_path = file_is_there(places.unit()) ? places.unit() : places.packaged_unit();
  return files;
}

Result<bool> remove_service_unit(const ServicePlaces& places) {
  ENGRAM_ASSIGN(const Author author, author_of(places.unit()));
  if (author != Author::we) return false;
  if (::unlink(places.unit().c_str()) != 0) {
    return call_failed(places.unit(), "unlink", errno, "It is still there.");
  }
  return true;
}

}  // namespace engram
