#include "tools/bundle/bundle_preamble.h"

#include <fmt/format.h>

namespace engram {

namespace {

constexpr const char* kScript = R"sh(#!/bin/sh
# Engram bundle for {target} machines. To install it, as root: sh THIS-FILE [--key KEY | --trust-new-key]
# To look into it: engram bundle verify THIS-FILE
set -eu
stop() {{ echo "error: $*" >&2; exit 69; }}
case $(uname -m) in
    {machine}) ;;
    *) stop "this bundle is for {machine}, this machine is $(uname -m). Nothing was changed" ;;
esac
[ "$(id -u)" = 0 ] || stop "installing changes the system: sudo sh $0"
if command -v engram >/dev/null 2>&1 && engram bundle --help >/dev/null 2>&1; then
    exec engram bundle install "$0" "$@"
fi
for tool in tail head sha256sum dpkg dpkg-deb mktemp; do
    command -v $tool >/dev/null 2>&1 || stop "$tool is missing: this is no system like Debian"
done
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
trap 'exit 130' INT TERM HUP
tail -c +{start} "$0" | head -c {size} > "$place/engram.deb"
[ "$(sha256sum < "$place/engram.deb")" = "{digest}  -" ] ||
    stop "the package in $0 is damaged. Nothing was changed; copy the bundle again"
dpkg-deb --extract "$place/engram.deb" "$place/files"
why=$("$place/files/usr/bin/engram" version 2>&1) ||
    stop "the program of this bundle does not start here: $why. {hint}Nothing was changed"
"$place/files/usr/bin/engram" bundle install "$0" "$@"
exit
)sh";

// Linked with CUDA and without its libraries, which are JetPack's, a program is not even loaded.
constexpr const char* kJetsonHint =
    "CUDA's libraries are those of JetPack (libcudart.so.13: JetPack 7; .so.12: JetPack 6): sudo "
    "apt "
    "install nvidia-jetpack. ";

}  // namespace

std::string bundle_preamble(const BundleHead& head) {
  const BundleEntry* package = head.find(BundleMember::package);
  ENGRAM_CHECK(package != nullptr && &head.entries.front() == package);
  return fmt::format(
      kScript, fmt::arg("target", name(head.target)),
      fmt::arg("machine", head.target == BundleTarget::x86_64 ? "x86_64" : "aarch64"),
      fmt::arg("hint", head.target == BundleTarget::aarch64_jetson ? kJetsonHint : ""),
      fmt::arg("start", kBundleHeadBytes + 1), fmt::arg("size", package->size),
      fmt::arg("digest", hex_of(package->digest)));
}

}  // namespace engram
