// What is in a bundle, taken out and found good: the part of an installation that changes nothing.
#pragma once

#include <optional>
#include <string>

#include "engine/model_card.h"
#include "tools/bundle/bundle_install.h"
#include "tools/bundle/debian_package.h"

namespace engram {

// Where a device has its things, by its settings or, if it has none, by the bundle's.
struct DevicePlaces {
  std::string home, state, settings;
};

struct JudgedBundle {
  DevicePlaces places;
  DebianPackage package;
  std::optional<ModelCard> card;
  bool model_is_there = false;
  bool state_is_there = false;
  bool settings_are_there = false;
  // Files in the folder; empty: not in the bundle.
  std::string package_file, model_file, state_file, settings_file, licences_file;
};
// Takes all members out into `folder`, which is there and empty.
Result<JudgedBundle> judge_bundle(const BundleFile& bundle, const std::string& folder,
                                  const std::string& root);

}  // namespace engram
