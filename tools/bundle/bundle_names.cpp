// Targets and members of a bundle by name.
#include "tools/bundle/bundle_format.h"

namespace engram {

const char* name(BundleTarget target) {
  switch (target) {
    case BundleTarget::x86_64:
      return "x86_64";
    case BundleTarget::aarch64:
      return "aarch64";
    case BundleTarget::aarch64_jetson:
      return "aarch64-jetson";
  }
  return "";
}

const char* debian_architecture(BundleTarget target) {
  return target == BundleTarget::x86_64 ? "amd64" : "arm64";
}

std::optional<BundleTarget> target_named(const std::string& text) {
  for (const BundleTarget target :
       {BundleTarget::x86_64, BundleTarget::aarch64, BundleTarget::aarch64_jetson}) {
    if (text == name(target)) return target;
  }
  return std::nullopt;
}

std::optional<BundleTarget> target_of_this_machine() {
#if defined(__x86_64__)
  return BundleTarget::x86_64;
#elif defined(__aarch64__)
  return BundleTarget::aarch64;
#else
  return std::nullopt;
#endif
}

const char* name(BundleMember member) {
  switch (member) {
    case BundleMember::package:
      return "engram.deb";
    case BundleMember::model:
      return "model.onnx";
    case BundleMember::card:
      return "card.json";
    case BundleMember::state:
      return "state.engram";
    case BundleMember::settings:
      return "camera.conf";
    case BundleMember::licences:
      return "licences.txt";
  }
  return "";
}

std::uint64_t most_bytes(BundleMember member) {
  constexpr std::uint64_t kKiB = 1024, kGiB = kKiB * kKiB * kKiB;
  switch (member) {
    case BundleMember::package:
      return kGiB;
    case BundleMember::model:
      return 2 * kGiB;  // as check_onnx
    case BundleMember::state:
      return 4 * kGiB;
    case BundleMember::card:
    case BundleMember::settings:
      return 64 * kKiB;  // as parse_card and read_settings
    case BundleMember::licences:
      return 1024 * kKiB;
  }
  return 0;
}

}  // namespace engram
