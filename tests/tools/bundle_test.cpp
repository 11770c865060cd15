// Bundles: what is not exactly what somebody signed is refused, and nothing of it is left on disk.
#include "tools/bundle/bundle_file.h"

#include <cstring>
#include <filesystem>

#include <sys/stat.h>

#include "engine/byte_io.h"
#include "platform/file.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"
#include "tools/bundle/bundle_install.h"
#include "tools/bundle/bundle_keys.h"
#include "tools/bundle/bundle_preamble.h"

namespace engram {
namespace {

const Secret kSecret{std::byte{7}};

std::vector<std::byte> bytes_in(const std::string& path) {
  return read_file(path, std::size_t{1} << 24).value();
}

struct SmallBundle {
  test::TempDirectory directory;
  std::string path = directory / "site.egb";
  std::vector<BundleSource> sources;
  BundleHead head;

  SmallBundle() {
    for (const BundleMember member :
         {BundleMember::package, BundleMember::model, BundleMember::card, BundleMember::licences}) {
      sources.push_back({member, directory / name(member)});
      REQUIRE(replace_file(sources.back().path, as_bytes(name(member))).ok());
    }
    head = write_bundle(sources, BundleTarget::aarch64, kSecret, path).value();
  }
};

// A head that says whatever it wants, signed as it should be.
Status judged(std::vector<BundleEntry> entries) {
  BundleHead head{.target = BundleTarget::x86_64, .key = {}, .entries = std::move(entries)};
  const std::string preamble = "#!/bin/sh\n# Engram bundle for tests\n";
  const auto bytes = write_bundle_head(head, preamble, kSecret);
  return parse_bundle_head(bytes, head.file_size(), "site.egb").status();
}

BundleEntry entry(BundleMember member, std::uint64_t size = 1) {
  return {.member = member, .size = size, .digest = {}, .offset = 0};
}

}  // namespace

TEST_CASE("bundle: what goes in comes out, and the same input gives the same bytes",
          "[tools][bundle]") {
  const SmallBundle small;
  const Result<BundleFile> bundle = BundleFile::open(small.path);
  REQUIRE(bundle.ok());
  REQUIRE(bundle->head().target == BundleTarget::aarch64);
  REQUIRE(bundle->head().key == public_key_of(kSecret));
  REQUIRE(bundle->head().entries.size() == small.sources.size());
  for (const BundleEntry& each : bundle->head().entries) {
    REQUIRE(bundle->check(each).ok());
    const std::string out = small.directory / "out";
    REQUIRE(bundle->take_out(each, out).ok());
    REQUIRE(as_text(bytes_in(out)) == name(each.member));
  }
  const std::string again = small.directory / "again.egb";
  REQUIRE(write_bundle(small.sources, BundleTarget::aarch64, kSecret, again).ok());
  REQUIRE(bytes_in(again) == bytes_in(small.path));
  REQUIRE(::chmod(small.sources[0].path.c_str(), 0600) == 0);  // only bytes count
  REQUIRE(write_bundle(small.sources, BundleTarget::aarch64, kSecret, again).ok());
  REQUIRE(bytes_in(again) == bytes_in(small.path));
}

TEST_CASE("bundle: cut short anywhere, or longer, it is refused", "[tools][bundle]") {
  const SmallBundle small;
  const std::vector<std::byte> whole = bytes_in(small.path);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto head = std::span(whole).first(std::min(length, kBundleHeadBytes));
    const Status refused = parse_bundle_head(head, length, "site.egb").status();
    if (refused.code() != Code::bad_data) FAIL("accepted with " << length << " bytes");
  }
  std::vector<std::byte> longer = whole;
  longer.push_back(std::byte{0});
  REQUIRE(replace_file(small.path, longer).ok());
  REQUIRE(test::says(BundleFile::open(small.path).status(), "longer than the bundle"));
}

TEST_CASE("bundle: any bit of the head is signed", "[tools][bundle]") {
  const SmallBundle small;
  std::vector<std::byte> bytes = bytes_in(small.path);
  const std::size_t size = bytes.size();
  bytes.resize(kBundleHeadBytes);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const std::byte before = bytes[at];
    bytes[at] ^= std::byte(1 << at % 8);
    const Status refused = parse_bundle_head(bytes, size, "site.egb").status();
    if (refused.ok()) FAIL("accepted with byte " << at << " changed");
    bytes[at] = before;
  }
  REQUIRE(parse_bundle_head(bytes, size, "site.egb").ok());
}

TEST_CASE("bundle: any bit of a member is noticed, and nothing is left", "[tools][bundle]") {
  const SmallBundle small;
  const std::vector<std::byte> whole = bytes_in(small.path);
  for (const BundleEntry& each : small.head.entries) {
    for (std::uint64_t at = each.offset; at < each.offset + each.size; ++at) {
      std::vector<std::byte> bytes = whole;
      bytes[at] ^= std::byte{0x10};
      REQUIRE(replace_file(small.path, bytes).ok());
      const Result<BundleFile> bundle = BundleFile::open(small.path);
      REQUIRE(bundle.ok());
      REQUIRE(
          test::says(bundle->check(each), std::string(name(each.member)) + " in it is damaged"));
      REQUIRE(bundle->take_out(each, small.directory / "out").code() == Code::bad_data);
      REQUIRE_FALSE(std::filesystem::exists(small.directory / "out"));
      REQUIRE_FALSE(std::filesystem::exists(small.directory / "out.new"));
    }
  }
}

TEST_CASE("bundle: a table that makes no sense is refused, whoever signed it", "[tools][bundle]") {
  using enum BundleMember;
  REQUIRE(judged({entry(package)}).ok());
  REQUIRE(judged({entry(package), entry(model), entry(card), entry(state)}).ok());
  REQUIRE(test::says(judged({}), "its table makes no sense"));
  REQUIRE(test::says(judged({entry(licences)}), "it has no package"));
  REQUIRE(test::says(judged({entry(package), entry(package)}), "its table makes no sense"));
  REQUIRE(test::says(judged({entry(licences), entry(package)}), "its table makes no sense"));
  REQUIRE(test::says(judged({entry(package), entry(BundleMember{7})}), "its table makes no sense"));
  REQUIRE(test::says(judged({entry(BundleMember{0})}), "its table makes no sense"));
  REQUIRE(test::says(judged({entry(package), entry(model)}), "come together"));
  REQUIRE(test::says(judged({entry(package), entry(card)}), "come together"));
  for (const BundleMember member : {package, model, card, state, settings, licences}) {
    for (const std::uint64_t size : {std::uint64_t{0}, most_bytes(member) + 1, ~std::uint64_t{0}}) {
      std::vector<BundleEntry> entries{entry(package)};
      if (member != package) entries.push_back(entry(member, size));
      entries.front().size = member == package ? size : 1;
      REQUIRE(test::says(judged(entries), "has an impossible size"));
    }
  }
  REQUIRE(judged({entry(package, most_bytes(package)), entry(model, most_bytes(model)), entry(card),
                  entry(state, most_bytes(state))})
              .ok());
}

TEST_CASE("bundle: files that are none", "[tools][bundle]") {
  const SmallBundle small;
  REQUIRE(BundleFile::open(small.directory / "absent").status().code() == Code::not_found);
  REQUIRE(BundleFile::open(small.directory.path()).status().code() == Code::bad_data);
  REQUIRE(test::says(BundleFile::open(small.sources[0].path).status(), "not a bundle of engram"));
  REQUIRE(replace_file(small.sources[1].path, {}).ok());  // an empty member
  REQUIRE(test::says(
      write_bundle(small.sources, BundleTarget::x86_64, kSecret, small.path).status(), "too few"));
  REQUIRE(BundleFile::open(small.path).ok());  // the old one is kept
}

TEST_CASE("bundle: the script in front fits, whatever the sizes", "[tools][bundle]") {
  BundleHead head{.target = BundleTarget::aarch64_jetson, .key = {}, .entries = {}};
  head.entries.push_back(entry(BundleMember::package, most_bytes(BundleMember::package)));
  const std::string script = bundle_preamble(head);
  REQUIRE(script.size() < kBundlePreambleBytes);
  REQUIRE(test::says(script, "tail -c +8193 "));
  REQUIRE(test::says(script, "head -c 1073741824 "));
  REQUIRE(test::says(script, "aarch64) ;;"));
  REQUIRE(test::says(script, "sudo apt install nvidia-jetpack"));
  head.target = BundleTarget::aarch64;
  REQUIRE_FALSE(test::says(bundle_preamble(head), "jetpack"));
}

TEST_CASE("bundle: keys to sign with", "[tools][bundle]") {
  const test::TempDirectory home;
  REQUIRE(test::says(read_signing_key(home.path()).status(), "engram bundle key new"));
  const PublicKey key = make_signing_key(home.path()).value();
  REQUIRE(public_key_of(read_signing_key(home.path()).value()) == key);
  REQUIRE(test::says(make_signing_key(home.path()).status(), "there is a key already"));
  struct stat found;
  REQUIRE(::stat(signing_key_file(home.path()).c_str(), &found) == 0);
  REQUIRE((found.st_mode & 0777) == 0600);
  REQUIRE(::chmod(signing_key_file(home.path()).c_str(), 0644) == 0);
  REQUIRE(test::says(read_signing_key(home.path()).status(), "others may read"));
  REQUIRE(parse_public_key(fingerprint(key)).value() == key);
  REQUIRE(parse_public_key(hex_of(key) + "\n").value() == key);
  for (const std::string& text : {std::string(), hex_of(key).substr(1), hex_of(key) + "0",
                                  "g" + hex_of(key).substr(1), std::string(64, ' ')}) {
    REQUIRE(parse_public_key(text).status().code() == Code::invalid_argument);
  }
}

TEST_CASE("bundle: keys to trust", "[tools][bundle]") {
  const test::TempDirectory root;
  const PublicKey key = public_key_of(kSecret), other = public_key_of(Secret{});
  InstallRequest request{.bundle = "site.egb", .root = root.path(), .key = {}};
  const Status unknown = judge_key(request, key).status();
  REQUIRE(test::says(unknown, fingerprint(key)));
  REQUIRE(test::says(unknown, "--trust-new-key"));
  request.key = fingerprint(other);
  REQUIRE(test::says(judge_key(request, key).status(), "signed with another key"));
  request.trust_new_key = true;  // does not outvote --key
  REQUIRE_FALSE(judge_key(request, key).ok());
  request.key = fingerprint(key);
  REQUIRE(judge_key(request, key).value());
  request = {.bundle = "site.egb", .root = root.path(), .key = {}, .trust_new_key = true};
  REQUIRE(judge_key(request, key).value());

  REQUIRE(trust_key(root.path(), key).ok());
  REQUIRE(trust_key(root.path(), key).ok());
  REQUIRE(trust_key(root.path(), other).ok());
  REQUIRE(trusted_keys(root.path()).value() == std::vector<PublicKey>{key, other});
  request.trust_new_key = false;
  REQUIRE_FALSE(judge_key(request, key).value());
  REQUIRE(replace_file(trusted_keys_file(root.path()), as_bytes("# mine\nabc\n")).ok());
  REQUIRE(test::says(judge_key(request, key).status(), "bundle-keys:2: "));
}

TEST_CASE("bundle: only for machines like this one", "[tools][bundle]") {
  const test::TempDirectory root;
  const auto here = target_of_this_machine();
  if (!here) return;
  REQUIRE(check_machine(*here, root.path(), "site.egb").ok());
  const bool x86 = *here == BundleTarget::x86_64;
  const BundleTarget other = x86 ? BundleTarget::aarch64 : BundleTarget::x86_64;
  REQUIRE(check_machine(other, root.path(), "site.egb").code() == Code::not_supported);
  REQUIRE(check_machine(BundleTarget::aarch64_jetson, root.path(), "site.egb").code() ==
          Code::not_supported);  // no Jetson, or no aarch64 at all
  REQUIRE(make_directories(root / "etc").ok());
  REQUIRE(replace_file(root / "etc/nv_tegra_release", as_bytes("# R36\n")).ok());
  REQUIRE(check_machine(BundleTarget::aarch64_jetson, root.path(), "site.egb").ok() == !x86);
}

}  // namespace engram
