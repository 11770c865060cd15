// Pictures as a camera: those of a folder, of a pattern, or a single one.
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "platform/camera_sources.h"

namespace engram {
namespace {

namespace fs = std::filesystem;

class PictureFiles : public Camera {
 public:
  PictureFiles(std::vector<std::string> files, bool loop) : files_(std::move(files)), loop_(loop) {}

  Result<CameraPicture> next() override {
    if (at_ == files_.size() && loop_) at_ = 0;
    if (at_ == files_.size()) {
      return Status(Code::not_found,
                    fmt::format("All pictures have been shown ({}).", files_.size()));
    }
    // Broken or deleted meanwhile: whatever it is, the next one may be fine. A run of such files is
    // told once, since many bad pictures in a row mean a lost camera to whoever reads it.
    for (;;) {
      Result<Image> image = read_image(files_[at_++]);
      const bool told = std::exchange(is_broken_, !image.ok());
      if (image.ok()) return CameraPicture(std::move(*image));
      if (!told || at_ == files_.size()) return Status(Code::bad_data, image.status().what());
    }
  }

 private:
  std::vector<std::string> files_;
  bool loop_;
  std::size_t at_ = 0;
  bool is_broken_ = false;  // the file before
};

Result<std::vector<std::string>> matching(const std::string& pattern) {
  glob_t found{};
  const int failed = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> files;
  for (std::size_t i = 0; failed == 0 && i < found.gl_pathc; ++i) {
    std::error_code error;
    const std::string path = found.gl_pathv[i];
    if (ends_like_a_picture(path) && fs::is_regular_file(path, error)) files.push_back(path);
  }
  ::globfree(&found);
  if (failed == GLOB_NOSPACE) {
    return Status(Code::out_of_memory, fmt::format("{}: too many files match", pattern));
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return find_images(path);
  if (fs::exists(path, error)) return std::vector<std::string>{path};
  if (path.find_first_of("*?[") != std::string::npos) return matching(path);
  return Status(Code::not_found, fmt::format("{}: there is no such file or folder", path));
}

}  // namespace

OpenedCamera open_picture_files(CameraUri uri) {
  ENGRAM_ASSIGN(const auto fps, uri.take_number("fps", 10, 0, 1000));
  ENGRAM_ASSIGN(const auto loop, uri.take_number("loop", 0, 0, 1));
  const std::string path = uri.take_path();
  ENGRAM_TRY(uri.nothing_else(kFilesAddress));
  ENGRAM_ASSIGN(auto files, files_of(path));
  if (files.empty()) {
    return Status(Code::not_found,
                  fmt::format("{}: there are no .jpg, .jpeg or .png pictures", path));
  }
  return paced(std::make_unique<PictureFiles>(std::move(files), loop == 1), static_cast<int>(fps));
}

}  // namespace engram
