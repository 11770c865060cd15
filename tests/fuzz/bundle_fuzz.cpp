// Heads of bundles: the input is what follows the script, with the right key and signature put in. What is
// accepted has bounded members one behind the other, and is written again as it was.
#include "tools/bundle/bundle_format.h"

#include <algorithm>
#include <cstring>

#include "tests/fuzz/fuzz_target.h"

using namespace engram;

namespace {

const Secret kSecret{std::byte{1}};
const std::string kPreamble = "#!/bin/sh\n# Engram bundle for machines that fuzz\n";
constexpr std::size_t kTotalAt = kBundlePreambleBytes + 16, kKeyAt = kTotalAt + 8;
constexpr std::size_t kSignatureAt = kBundleHeadBytes - sizeof(Signature);

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> bytes(kBundlePreambleBytes, std::byte{'\n'});
  bytes.resize(kBundleHeadBytes);
  std::memcpy(bytes.data(), kPreamble.data(), kPreamble.size());
  if (size > 0) {
    std::memcpy(bytes.data() + kBundlePreambleBytes, data,
                std::min(size, kSignatureAt - kBundlePreambleBytes));
  }
  const PublicKey key = public_key_of(kSecret);
  std::copy(key.begin(), key.end(), bytes.begin() + kKeyAt);
  const Signature mark = sign(kSecret, std::span(bytes).first(kSignatureAt));
  std::copy(mark.begin(), mark.end(), bytes.begin() + kSignatureAt);
  std::uint64_t total = 0;
  std::memcpy(&total, bytes.data() + kTotalAt, sizeof total);

  Result<BundleHead> head = parse_bundle_head(bytes, total, "input");
  if (!head.ok()) return 0;
  std::uint64_t offset = kBundleHeadBytes;
  for (const BundleEntry& entry : head->entries) {
    ENGRAM_CHECK(entry.size > 0 && entry.size <= most_bytes(entry.member));
    ENGRAM_CHECK(entry.offset == offset && *name(entry.member) != 0);
    offset += entry.size;
  }
  ENGRAM_CHECK(offset == total && head->find(BundleMember::package) != nullptr);
  ENGRAM_CHECK(write_bundle_head(head.value(), kPreamble, kSecret) == bytes);
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  BundleHead head{.target = BundleTarget::aarch64_jetson, .key = {}, .entries = {}};
  for (const auto member : {BundleMember::package, BundleMember::model, BundleMember::card,
                            BundleMember::state, BundleMember::settings, BundleMember::licences}) {
    head.entries.push_back({.member = member, .size = 100, .digest = {}, .offset = 0});
  }
  const auto bytes = write_bundle_head(head, kPreamble, kSecret);
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  // Behind the table there are only zeros.
  return {std::string(text + kBundlePreambleBytes, 60 + 6 * 44)};
}
