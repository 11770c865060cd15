// Whether a bundle is for this machine, and from somebody that it trusts.
#include <algorithm>

#include <unistd.h>

#include <fmt/format.h>

#include "tools/bundle/bundle_install.h"
#include "tools/bundle/bundle_keys.h"

namespace engram {

Status check_machine(BundleTarget target, const std::string& root, const std::string& file) {
  const auto here = target_of_this_machine();
  const bool jetson = target == BundleTarget::aarch64_jetson;
  if (!here || std::string(debian_architecture(*here)) != debian_architecture(target)) {
    return Status(Code::not_supported,
                  fmt::format("{}: a bundle for {}; this machine is {}. Nothing was changed", file,
                              name(target), here ? name(*here) : "none that a bundle can be for"));
  }
  if (jetson && ::access((root + "/etc/nv_tegra_release").c_str(), F_OK) != 0) {
    return Status(Code::not_supported,
                  fmt::format("{}: a bundle for Jetson, and this machine is none "
                              "(/etc/nv_tegra_release is missing). Nothing was changed",
                              file));
  }
  return {};
}

Result<bool> judge_key(const InstallRequest& request, const PublicKey& key) {
  ENGRAM_ASSIGN(const std::vector<PublicKey> trusted, trusted_keys(request.root));
  const bool known = std::find(trusted.begin(), trusted.end(), key) != trusted.end();
  if (!request.key.empty()) {
    ENGRAM_ASSIGN(const PublicKey wanted, parse_public_key(request.key));
    if (wanted == key) return !known;
    return Status(Code::bad_data,
                  fmt::format("{}: signed with another key, {}. Nothing was changed",
                              request.bundle, fingerprint(key)));
  }
  if (known) return false;
  if (request.trust_new_key) return true;
  return Status(
      Code::invalid_argument,
      fmt::format("{}: signed with a key that this machine does not trust{}:\n  {}\nNothing was "
                  "changed. If it is the one that `engram bundle key show` prints where the bundle "
                  "was made, say so: --key with its digits, or --trust-new-key",
                  request.bundle, trusted.empty() ? " yet" : "", fingerprint(key)));
}

}  // namespace engram
