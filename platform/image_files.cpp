// What is a picture by its name or its first bytes.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "platform/image.h"
#include "platform/image_codecs.h"

namespace engram {

namespace fs = std::filesystem;

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

}  // namespace engram
