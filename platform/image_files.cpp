// Finding pictures in folders.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "platform/image.h"
#include "platform/image_codecs.h"

namespace engram {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& path, const fs::path& root) {
  const auto [root_end, unused] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return root_end == root.end();
}

Status cannot_list(const std::string& directory, const std::error_code& error) {
  const Code code =
      error == std::errc::no_such_file_or_directory ? Code::not_found : Code::io_failure;
  return {code, fmt::format("{}: cannot list the folder: {}", directory, error.message())};
}

}  // namespace

bool ends_like_a_picture(const std::string& path) {
  std::string extension = fs::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

bool is_picture_file(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  if (ends_like_a_picture(path)) return true;
  char start[8] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof start);
  const auto bytes = std::as_bytes(std::span(start));
  return codec::is_jpeg(bytes) || codec::is_png(bytes);
}

Result<std::vector<std::string>> find_images(const std::string& directory) {
  std::error_code error;
  const fs::path root = fs::canonical(directory, error);
  if (error) return cannot_list(directory, error);
  if (!fs::is_directory(root, error)) {
    return Status(Code::invalid_argument, fmt::format("{}: is not a folder", directory));
  }

  std::vector<std::string> found;
  fs::recursive_directory_iterator entry(directory, error);
  if (error) return cannot_list(directory, error);
  while (entry != fs::recursive_directory_iterator()) {
    const fs::path& path = entry->path();
    if (path.filename().string().starts_with('.')) {
      entry.disable_recursion_pending();  // .git, .thumbnails, macOS' ._twins of every file
    } else if (ends_like_a_picture(path.string()) && entry->is_regular_file(error)) {
      std::error_code dangling;
      const fs::path target = fs::canonical(path, dangling);
      if (!dangling && is_below(target, root)) found.push_back(path.string());
    }
    const std::string here = path.string();
    entry.increment(error);
    if (error) return cannot_list(here, error);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace engram
