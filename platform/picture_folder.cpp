#include "platform/picture_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "platform/image.h"

namespace engram {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOtherKinds[] = {".webp", ".bmp",  ".gif",  ".tif", ".tiff",
                                            ".heic", ".heif", ".avif", ".jxl", ".jp2",
                                            ".dng",  ".cr2",  ".cr3",  ".nef", ".arw"};

// The ending of a picture of another kind, in small letters; else nothing.
std::string other_kind(const fs::path& path) {
  std::string end = path.extension().string();
  std::transform(end.begin(), end.end(), end.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool known =
      std::find(std::begin(kOtherKinds), std::end(kOtherKinds), end) != std::end(kOtherKinds);
  return known ? end : "";
}

Status cannot_list(const std::string& directory, const std::error_code& error) {
  const Code code =
      error == std::errc::no_such_file_or_directory ? Code::not_found : Code::io_failure;
  return {code, fmt::format("{}: cannot list the folder: {}", directory, error.message())};
}

bool is_above(const fs::path& folder, const fs::path& root) {
  return std::mismatch(folder.begin(), folder.end(), root.begin(), root.end()).first ==
         folder.end();
}

class Search {
 public:
  explicit Search(fs::path root) : root_(std::move(root)) {}

  Status list(const fs::path& folder) {
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    if (error) return cannot_list(folder.string(), error);
    if (!seen_.insert(real).second) return {};
    std::vector<fs::directory_entry> entries;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      entries.push_back(*entry);
    }
    if (error) return cannot_list(folder.string(), error);
    std::sort(entries.begin(), entries.end());
    for (const fs::directory_entry& one : entries) look_at(one);
    return {};
  }

  // Behind the folders that are really there, so that those are found by their own names.
  void follow_links() {
    for (std::size_t i = 0; i < linked_.size(); ++i) {
      const fs::path folder = linked_[i];  // listing adds more
      std::error_code error;
      const fs::path target = fs::canonical(folder, error);
      if (!error && is_above(target, root_)) continue;
      if (Status status = list(folder); !status.ok()) leave_out(folder, std::move(status));
    }
  }

  PictureFolder finish(const std::string& directory) {
    std::sort(found_.pictures.begin(), found_.pictures.end());
    if (other_kinds_.empty()) return std::move(found_);
    int count = 0;
    std::string kinds;
    for (const auto& [kind, pictures] : other_kinds_) {
      count += pictures;
      kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", pictures, kind);
    }
    leave_out(
        directory,
        Status(Code::not_supported,
               fmt::format("{}: {} of kinds that are not read {} left out ({}). Convert to "
                           "JPEG or PNG what should count.",
                           directory, count == 1 ? "1 picture" : fmt::format("{} pictures", count),
                           count == 1 ? "was" : "were", kinds)));
    return std::move(found_);
  }

 private:
  void look_at(const fs::directory_entry& entry) {
    const fs::path& path = entry.path();
    // .git, .thumbnails, macOS' ._twins of every file
    if (path.filename().string().starts_with('.')) return;
    std::error_code error;
    const fs::file_type type = entry.status(error).type();
    if (type == fs::file_type::directory) {
      if (entry.is_symlink(error)) {
        linked_.push_back(path);
      } else if (Status status = list(path); !status.ok()) {
        leave_out(path, std::move(status));
      }
      return;
    }
    const std::string other = other_kind(path);
    const bool is_ours = ends_like_a_picture(path.string());
    if (!is_ours && other.empty()) return;
    if (type == fs::file_type::not_found) {
      leave_out(path, Status(Code::not_found,
                             fmt::format("{}: is a link that leads nowhere", path.string())));
    } else if (type != fs::file_type::regular) {
      const std::string why = error ? "cannot be read: " + error.message() : "is not a file";
      leave_out(path, Status(error ? Code::io_failure : Code::bad_data,
                             fmt::format("{}: {}", path.string(), why)));
    } else if (is_ours) {
      found_.pictures.push_back(path.string());
    } else {
      ++other_kinds_[other];
    }
  }

  void leave_out(const fs::path& path, Status why) {
    found_.left_out.push_back({path.string(), std::move(why)});
  }

  fs::path root_;
  PictureFolder found_;
  std::set<fs::path> seen_;       // folders, by their real names
  std::vector<fs::path> linked_;  // folders behind links
  std::map<std::string, int> other_kinds_;
};

}  // namespace

Result<PictureFolder> search_pictures(const std::string& directory) {
  std::error_code error;
  const fs::path root = fs::canonical(directory, error);
  if (error) return cannot_list(directory, error);
  if (!fs::is_directory(root, error)) {
    return Status(Code::invalid_argument, fmt::format("{}: is not a folder", directory));
  }
  Search search(root);
  ENGRAM_TRY(search.list(directory));
  search.follow_links();
  return search.finish(directory);
}

Result<std::vector<std::string>> find_images(const std::string& directory) {
  ENGRAM_ASSIGN(PictureFolder folder, search_pictures(directory));
  return std::move(folder.pictures);
}

}  // namespace engram
