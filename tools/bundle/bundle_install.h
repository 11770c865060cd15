// `engram bundle install` and `rollback`, on the device.
//
// First everything is taken out into a folder that only root can write to, and judged there: signature, key,
// machine, digests, package, model (tried in a process of its own), state, settings. Only then is anything
// changed, in steps that say what they did; each is complete or absent, and one that was done before is
// passed over, so that after a failure the same command goes on.
#pragma once

#include <functional>
#include <string>

#include "tools/bundle/bundle_file.h"

namespace engram {

struct InstallRequest {
  std::string bundle;
  std::string root;  // of an image, or empty: this machine
  std::string key;   // that signed it, as the person knows it; empty: one that is trusted
  bool trust_new_key = false;
};
// "package", "1.2.0, was 1.1.0": for a line.
using TellStep = std::function<void(const std::string& step, const std::string& what)>;

// Does not start the service. Refusals change nothing and say so.
Status install_bundle(const InstallRequest& request, const TellStep& tell);
// The package before the last one that a bundle brought, again; twice: the newer one. Models, what was
// learned and settings stay. not_found: none is kept.
Status roll_back(const std::string& root, const TellStep& tell);

// Whether to believe the one who signed: --key, else the keys that this machine trusts, else
// --trust-new-key. True: the key is new, and to be remembered. invalid_argument: neither.
Result<bool> judge_key(const InstallRequest& request, const PublicKey& key);
// not_supported: the bundle is for other machines than this one.
Status check_machine(BundleTarget target, const std::string& root, const std::string& file);

}  // namespace engram
