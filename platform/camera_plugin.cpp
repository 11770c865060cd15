#include "platform/camera_plugin.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace engram {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNeeds =
    "Videos, rtsp:// and csi:// need GStreamer; pictures, v4l2:// and stage:// work without it.";
constexpr const char* kInstall =
    "sudo apt-get install gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-libav";

// Beside the program (a build folder), in lib/engram beside its folder (an installation), and the same
// seen from the library, which a program of somebody else's may have loaded.
std::vector<fs::path> folders() {
  std::vector<fs::path> found;
  if (const char* chosen = ::secure_getenv("ENGRAM_PLUGINS");
      chosen != nullptr && *chosen != '\0') {
    found.emplace_back(chosen);
    return found;
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (!error) {
    found.push_back(program);
    found.push_back(program.parent_path() / "lib" / "engram");
  }
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&video_plugin), &self) != 0 &&
      self.dli_fname != nullptr) {
    const fs::path library = fs::canonical(self.dli_fname, error).parent_path();
    if (!error) {
      found.push_back(library);
      found.push_back(library / "engram");
    }
  }
  return found;
}

Result<const EngramVideoPlugin*> load(const fs::path& file) {
  void* const module =
      ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: it has threads
  if (module == nullptr) {
    const char* why = ::dlerror();
    return Status(Code::not_supported,
                  fmt::format("{} ({}) Install it with\n  {}", kNeeds,
                              why == nullptr ? "it is not there" : why, kInstall));
  }
  auto* const entry = reinterpret_cast<VideoPluginEntry*>(::dlsym(module, kVideoPluginEntry));
  const EngramVideoPlugin* const plugin = entry == nullptr ? nullptr : entry();
  if (plugin == nullptr || plugin->version != kVideoPluginVersion) {
    return Status(Code::not_supported,
                  fmt::format("{}: is of another version of Engram than this program; install both "
                              "from the same build",
                              file.string()));
  }
  return plugin;
}

Result<const EngramVideoPlugin*> find() {
  std::string tried;
  for (const fs::path& folder : folders()) {
    std::error_code error;
    const fs::path file = folder / kVideoPluginFile;
    if (fs::exists(file, error)) return load(file);
    tried += (tried.empty() ? "" : ", ") + folder.string();
  }
  return Status(
      Code::not_supported,
      fmt::format("{} This build has no module for it ({} is not in {}). Install\n  "
                  "libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev\nand build again, or "
                  "name its folder in ENGRAM_PLUGINS.",
                  kNeeds, kVideoPluginFile, tried));
}

}  // namespace

Result<const EngramVideoPlugin*> video_plugin() {
  static std::mutex guard;
  static const EngramVideoPlugin* loaded = nullptr;
  const std::lock_guard<std::mutex> hold(guard);
  if (loaded != nullptr) return loaded;
  ENGRAM_ASSIGN(loaded, find());
  return loaded;
}

}  // namespace engram
