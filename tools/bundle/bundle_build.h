// `engram bundle build`: files of this machine in one signed file.
#pragma once

#include <string>

#include "tools/bundle/bundle_file.h"

namespace engram {

struct BundleRequest {
  BundleTarget target = BundleTarget::x86_64;
  std::string package;   // the .deb
  std::string state;     // a state's directory or an exported file; empty: none
  std::string settings;  // a camera.conf; empty: the package's own
  std::string model;     // by name; empty: the state's, else the default one
  bool without_model = false;
  std::string home;  // of models and of the key
  std::string to;
};
// Everything is checked as the device will: the package is of engram and for the target, the model is
// whole, the state is whole and was learned with that model, settings can be read.
Result<BundleHead> build_bundle(const BundleRequest& request);

}  // namespace engram
