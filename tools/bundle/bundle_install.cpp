#include "tools/bundle/bundle_install.h"

#include <cerrno>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "engine/model_store.h"
#include "engine/state_file.h"
#include "platform/file.h"
#include "platform/sentence.h"
#include "tools/bundle/bundle_judge.h"
#include "tools/bundle/bundle_keys.h"
#include "tools/bundle/owner_turn.h"
#include "tools/bundle/staging_folder.h"

namespace engram {

namespace {

Status needs_root(const std::string& root) {
  if (!root.empty() || ::geteuid() == 0) return {};
  return Status(Code::not_supported, "this changes the system: run it as root (sudo)");
}

Status rename_file(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return sync_directory(directory_of(to));
  return call_failed(from, "rename", errno, "");
}

Status put_settings(const JudgedBundle& judged, const TellStep& tell) {
  if (judged.settings_file.empty()) return {};
  const std::string& to = judged.places.settings;
  if (judged.settings_are_there) {
    tell("settings", to + " is kept");
    return {};
  }
  ENGRAM_ASSIGN(const auto bytes,
                read_file(judged.settings_file, most_bytes(BundleMember::settings)));
  ENGRAM_TRY(make_directories(directory_of(to)));
  ENGRAM_TRY(replace_file(to, bytes));
  tell("settings", to);
  return {};
}

// After a failure dpkg may have left half of a package: the one that was there before is installed again.
Status put_package(const JudgedBundle& judged, const std::string& root, const TellStep& tell) {
  const KeptPackages kept{root};
  ENGRAM_ASSIGN(const std::string before, installed_version(root));
  ENGRAM_ASSIGN(const std::string digest, sha256_of_file(judged.package_file));
  const Result<std::string> current = sha256_of_file(kept.current());
  const bool same = current.ok() && current.value() == digest;
  if (same && before == judged.package.version) {
    tell("package", before + " is installed already");
    return {};
  }
  if (const Status done = install_package(root, judged.package_file); !done.ok()) {
    if (!judged.settings_file.empty() && !judged.settings_are_there) {
      ::unlink(judged.places.settings.c_str());  // they came with this bundle
    }
    if (before.empty() && !current.ok()) {
      const Status gone = remove_package(root);
      return Status(done.code(), fmt::format("{} {}", sentence(done.what()),
                                             gone.ok() ? "It was removed again" : gone.what()));
    }
    std::string fate = fmt::format(
        "The package {} from before was not installed by a bundle; if it does not work: sudo dpkg "
        "--configure -a",
        before);
    if (current.ok()) {  // also where a power cut left half of the package that follows it
      const std::string name = before.empty() ? "of the bundle before" : before + " from before";
      const Status back = install_package(root, kept.current());
      fate = back.ok() ? fmt::format("The package {} is installed again", name)
                       : fmt::format("Installing the package {} failed too: {}", name, back.what());
    }
    return Status(done.code(), fmt::format("{} {}", sentence(done.what()), fate));
  }
  if (!same) {
    if (current.ok()) ENGRAM_TRY(rename_file(kept.current(), kept.previous()));
    ENGRAM_TRY(rename_file(judged.package_file, kept.current()));
  }
  tell("package", before.empty() ? judged.package.version
                                 : fmt::format("{}, was {}", judged.package.version, before));
  return {};
}

Status put_model(const JudgedBundle& judged, const TellStep& tell) {
  if (!judged.card) return {};
  const std::string& name = judged.card->name;
  if (judged.model_is_there) {
    tell("model", name + " is there already");
    return {};
  }
  ENGRAM_TRY(as_owner_of(judged.places.home, judged.model_file,
                         [&](const std::string& file, const std::string& home) {
                           return ModelStore(home).add(file, *judged.card, false);
                         }));
  tell("model", name);
  return {};
}

Status put_state(const JudgedBundle& judged, const TellStep& tell) {
  if (judged.state_file.empty()) return {};
  if (judged.state_is_there) {
    tell("state", fmt::format("{} is kept; the bundle's is not used. To have both: engram merge",
                              judged.places.state));
    return {};
  }
  const std::string& home = judged.places.home;
  const std::string& state = judged.places.state;
  ENGRAM_TRY(as_owner_of(
      home, judged.state_file, [&](const std::string& file, const std::string& reached) {
        const bool inside = state.starts_with(home + "/");
        const std::string to = inside ? reached + state.substr(home.size()) : state;
        return import_state(file, to, "");
      }));
  tell("state", state);
  return {};
}

}  // namespace

Status install_bundle(const InstallRequest& request, const TellStep& tell) {
  ENGRAM_TRY(needs_root(request.root));
  ::umask(022);  // the service reads what is put into /etc; what is secret has a mode of its own
  ENGRAM_ASSIGN(const BundleFile bundle, BundleFile::open(request.bundle));
  ENGRAM_ASSIGN(const bool new_key, judge_key(request, bundle.head().key));
  ENGRAM_TRY(check_machine(bundle.head().target, request.root, request.bundle));
  const KeptPackages kept{request.root};
  ENGRAM_ASSIGN(const StagingFolder staging, StagingFolder::make(kept));
  ENGRAM_ASSIGN(const JudgedBundle judged, judge_bundle(bundle, staging.path(), request.root));
  tell("verified", fmt::format("{}, signed by {}", request.bundle, fingerprint(bundle.head().key)));

  // Settings come before the package, which brings its own where there are none.
  ENGRAM_TRY(put_settings(judged, tell));
  ENGRAM_TRY(put_package(judged, request.root, tell));
  if (new_key) {
    ENGRAM_TRY(trust_key(request.root, bundle.head().key));
    tell("key", fmt::format("{} is trusted from now on", fingerprint(bundle.head().key)));
  }
  ENGRAM_TRY(put_model(judged, tell));
  ENGRAM_TRY(put_state(judged, tell));
  if (!judged.licences_file.empty()) {
    ENGRAM_TRY(rename_file(judged.licences_file, kept.folder() + "/licences.txt"));
  }
  return {};
}

Status roll_back(const std::string& root, const TellStep& tell) {
  ENGRAM_TRY(needs_root(root));
  const KeptPackages kept{root};
  if (::access(kept.previous().c_str(), F_OK) != 0) {
    return Status(Code::not_found,
                  fmt::format("{}: there is no package from before, so nothing was changed. The "
                              "second bundle that is installed leaves the first one's",
                              kept.previous()));
  }
  ENGRAM_ASSIGN(const StagingFolder staging, StagingFolder::make(kept));
  ENGRAM_ASSIGN(const DebianPackage previous, read_package(kept.previous()));
  ENGRAM_ASSIGN(const std::string before, installed_version(root));
  if (const Status done = install_package(root, kept.previous()); !done.ok()) {
    const Status back = install_package(root, kept.current());
    return Status(done.code(), fmt::format("{} {}", sentence(done.what()),
                                           back.ok() ? "The package from before is installed again"
                                                     : back.what()));
  }
  if (real_files().exchange(kept.current().c_str(), kept.previous().c_str()) != 0) {
    return call_failed(kept.current(), "exchange", errno, "The package is installed.");
  }
  tell("package", fmt::format("{}, was {}", previous.version, before.empty() ? "none" : before));
  return {};
}

}  // namespace engram
