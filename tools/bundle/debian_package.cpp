#include "tools/bundle/debian_package.h"

#include <cerrno>
#include <sstream>
#include <vector>

#include <sys/statvfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include "platform/child_process.h"
#include "platform/file.h"
#include "tools/console/terminal.h"
#include "tools/live/stop_signals.h"

namespace engram {

namespace {

constexpr int kReadSeconds = 60, kInstallSeconds = 900;  // slow cards, and a service that restarts
constexpr std::size_t kMostWords = 600;

Result<ChildOutcome> run(const std::vector<std::string>& words, int seconds, bool with_errors) {
  ENGRAM_ASSIGN(ChildOutcome outcome,
                run_child({.arguments = words, .seconds = seconds, .with_errors = with_errors}));
  if (outcome.exit_code == 127 && outcome.signal == 0) {
    return Status(Code::not_supported,
                  fmt::format("{} is not here: packages can be handled on Debian, Ubuntu and "
                              "JetPack only. Nothing was changed",
                              words.front()));
  }
  return outcome;
}

bool worked(const ChildOutcome& outcome) {
  return !outcome.timed_out && outcome.signal == 0 && outcome.exit_code == 0;
}

std::vector<std::string> dpkg_words(const char* program, const std::string& root) {
  std::vector<std::string> words{program};
  if (!root.empty()) words.push_back("--root=" + root);
  return words;
}

Status change(const std::string& root, const std::vector<std::string>& order, const char* verb) {
  std::vector<std::string> words = dpkg_words("dpkg", root);
  // Of an image that belongs to who makes it.
  if (!root.empty() && ::geteuid() != 0) words.push_back("--force-not-root");
  words.insert(words.end(), order.begin(), order.end());
  const StopSignals later;  // a closed terminal must not leave dpkg in the middle
  ENGRAM_ASSIGN(const ChildOutcome outcome, run(words, kInstallSeconds, true));
  if (worked(outcome)) return {};
  // Of its words those about errors; the reason is in an indented line behind.
  std::string said, line;
  for (std::istringstream lines(outcome.output); std::getline(lines, line);) {
    const bool matters = line.starts_with(" ") || line.find("error") != std::string::npos;
    if (matters && said.size() + line.size() < kMostWords) said += line + " ";
  }
  return Status(Code::internal, fmt::format("dpkg could not {} the package{}. It said: {}", verb,
                                            outcome.timed_out ? " in time" : "", printable(said)));
}

}  // namespace

Result<DebianPackage> read_package(const std::string& file) {
  ENGRAM_ASSIGN(
      const ChildOutcome outcome,
      run({"dpkg-deb", "--show",
           "--showformat=${Package}\n${Version}\n${Architecture}\n${Installed-Size}\n", "--", file},
          kReadSeconds, false));
  DebianPackage package;
  std::string name;
  std::istringstream lines(outcome.output);
  std::getline(lines, name);
  std::getline(lines, package.version);
  std::getline(lines, package.architecture);
  lines >> package.installed_kib;  // 0: not told
  if (!worked(outcome) || package.version.empty() || package.architecture.empty()) {
    return Status(Code::bad_data, fmt::format("{}: this is no Debian package", file));
  }
  if (name != "engram") {
    return Status(Code::bad_data,
                  fmt::format("{}: a package of {}, not of engram", file, printable(name)));
  }
  return package;
}

Status fits(const DebianPackage& package, BundleTarget target, const std::string& file) {
  if (package.architecture == debian_architecture(target)) return {};
  return Status(Code::bad_data, fmt::format("{}: a package for {}, but {} machines need one for {}",
                                            file, printable(package.architecture), name(target),
                                            debian_architecture(target)));
}

Status check_room(const DebianPackage& package, const std::string& root) {
  const std::string usr = root + "/usr";
  const std::string place = ::access(usr.c_str(), F_OK) == 0 ? usr : root + "/";
  if (::access(place.c_str(), W_OK) != 0) {
    return call_failed(place, "writing", errno, "Nothing was changed.");
  }
  struct statvfs disk;
  if (::statvfs(place.c_str(), &disk) != 0) return {};  // dpkg will say
  const std::uint64_t free_kib = disk.f_bavail * (disk.f_frsize / 512) / 2;
  if (free_kib >= package.installed_kib) return {};
  return Status(
      Code::io_failure,
      fmt::format("{}: the package needs {} MB, {} MB are free. Nothing was changed; make "
                  "room, then repeat this command",
                  place, package.installed_kib / 1024 + 1, free_kib / 1024));
}

Result<std::string> installed_version(const std::string& root) {
  std::vector<std::string> words = dpkg_words("dpkg-query", root);
  words.insert(words.end(), {"--show", "--showformat=${db:Status-Status} ${Version}", "engram"});
  ENGRAM_ASSIGN(const ChildOutcome outcome, run(words, kReadSeconds, false));
  const std::string mark = "installed ";
  if (!worked(outcome) || !outcome.output.starts_with(mark)) return std::string();
  return outcome.output.substr(mark.size());
}

Status install_package(const std::string& root, const std::string& file) {
  return change(root, {"--force-confold", "--install", file}, "install");
}

Status remove_package(const std::string& root) {
  return change(root, {"--remove", "engram"}, "remove");
}

}  // namespace engram
