// The first 8 KiB of a bundle, as bytes; README.md has the layout.
//
// Nothing in it is a path: members are numbers of a closed set, in order, one behind the other. So there is
// nothing to be careful about when they are taken out, but sizes and digests; both are signed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "platform/hash.h"
#include "platform/status.h"

namespace engram {

inline constexpr std::size_t kBundlePreambleBytes = 4096;  // a shell script, see bundle_preamble.h
inline constexpr std::size_t kBundleHeadBytes = 8192;      // with the preamble; then the members
inline constexpr std::uint32_t kBundleVersion = 1;

enum class BundleTarget : std::uint32_t { x86_64 = 1, aarch64 = 2, aarch64_jetson = 3 };
const char* name(BundleTarget target);                 // "aarch64-jetson"
const char* debian_architecture(BundleTarget target);  // "arm64"
std::optional<BundleTarget> target_named(const std::string& text);
std::optional<BundleTarget> target_of_this_machine();  // without "-jetson"; none: no bundle fits

// In the order in which they are in the file.
enum class BundleMember : std::uint32_t {
  package = 1,   // the .deb; every bundle has one
  model = 2,     // an ONNX file,
  card = 3,      // and how to use it: both or none
  state = 4,     // of engram export
  settings = 5,  // camera.conf
  licences = 6,  // for people
};
const char* name(BundleMember member);          // "model.onnx"
std::uint64_t most_bytes(BundleMember member);  // what is larger is refused before it is read

struct BundleEntry {
  BundleMember member = BundleMember::package;
  std::uint64_t size = 0;
  Digest digest{};           // SHA-256
  std::uint64_t offset = 0;  // in the file; follows from the sizes
};

struct BundleHead {
  BundleTarget target = BundleTarget::x86_64;
  PublicKey key{};  // that signed it; whether to trust it is for others to say
  std::vector<BundleEntry> entries;

  const BundleEntry* find(BundleMember member) const;
  std::uint64_t file_size() const;
};

// The head, signed. Offsets are filled in, head.key becomes that of the secret.
std::vector<std::byte> write_bundle_head(BundleHead& head, const std::string& preamble,
                                         const Secret& secret);
// Checks everything that can be told without the members, the signature first; `file_size` is that of
// the whole file. bad_data: "<file>: ..."; not_supported: of a newer version.
Result<BundleHead> parse_bundle_head(std::span<const std::byte> bytes, std::uint64_t file_size,
                                     const std::string& file);

}  // namespace engram
