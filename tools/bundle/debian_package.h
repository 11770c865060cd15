// A .deb, through dpkg and dpkg-deb alone: what is in it, installing it, keeping the one before.
#pragma once

#include <string>

#include "platform/status.h"
#include "tools/bundle/bundle_format.h"

namespace engram {

struct DebianPackage {
  std::string version, architecture;
  std::uint64_t installed_kib = 0;  // what it says that it needs
};
// Asks dpkg-deb. bad_data: no package, or of something else than engram. not_supported: no dpkg-deb here.
Result<DebianPackage> read_package(const std::string& file);
// bad_data: the package is for another machine than the bundle.
Status fits(const DebianPackage& package, BundleTarget target, const std::string& file);

// io_failure: no room for it, or nothing can be written there; dpkg unpacks beside the files from before.
Status check_room(const DebianPackage& package, const std::string& root);

// The version that dpkg says is installed and complete; empty: none. `root`: of an image, or empty.
Result<std::string> installed_version(const std::string& root);
// dpkg --install; settings that are there are kept. internal: its last words.
Status install_package(const std::string& root, const std::string& file);
Status remove_package(const std::string& root);  // dpkg --remove, also of half a package

// The packages that bundles installed, for going back: only root may write there, unlike to what the
// service owns.
struct KeptPackages {
  std::string root;
  std::string folder() const { return root + "/var/lib/engram-bundle"; }
  std::string current() const { return folder() + "/current.deb"; }
  std::string previous() const { return folder() + "/previous.deb"; }
};

}  // namespace engram
