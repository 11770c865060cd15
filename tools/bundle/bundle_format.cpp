#include "tools/bundle/bundle_format.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/byte_io.h"

namespace engram {

namespace {

constexpr std::string_view kShell = "#!/bin/sh\n# Engram bundle ";
constexpr std::string_view kBundleMagic = "engram\nb";
constexpr std::size_t kSignatureAt = kBundleHeadBytes - sizeof(Signature);
constexpr std::uint32_t kMostMembers = 6;

Status refused(const std::string& file, const std::string& why) {
  return Status(Code::bad_data,
                fmt::format("{}: {}. Nothing was changed; copy the bundle again", file, why));
}

template <std::size_t N>
std::array<std::byte, N> take_array(ByteReader& reader) {
  std::array<std::byte, N> bytes{};
  const auto taken = reader.take_bytes(N);
  std::copy(taken.begin(), taken.end(), bytes.begin());
  return bytes;
}

Status check_members(const BundleHead& head, const std::string& file) {
  if (head.find(BundleMember::package) == nullptr) return refused(file, "it has no package");
  const bool model = head.find(BundleMember::model) != nullptr;
  if (model != (head.find(BundleMember::card) != nullptr)) {
    return refused(file, "a model and its card come together");
  }
  return {};
}

}  // namespace

const BundleEntry* BundleHead::find(BundleMember member) const {
  for (const BundleEntry& entry : entries) {
    if (entry.member == member) return &entry;
  }
  return nullptr;
}

std::uint64_t BundleHead::file_size() const {
  return entries.empty() ? kBundleHeadBytes : entries.back().offset + entries.back().size;
}

std::vector<std::byte> write_bundle_head(BundleHead& head, const std::string& preamble,
                                         const Secret& secret) {
  ENGRAM_CHECK(preamble.starts_with(kShell) && preamble.size() <= kBundlePreambleBytes);
  head.key = public_key_of(secret);
  std::uint64_t offset = kBundleHeadBytes;
  for (BundleEntry& entry : head.entries) {
    entry.offset = offset;
    offset += entry.size;
  }
  ByteWriter writer;
  writer.put_bytes(as_bytes(preamble));
  writer.put_bytes(as_bytes(std::string(kBundlePreambleBytes - preamble.size(), '\n')));
  writer.put_bytes(as_bytes(kBundleMagic));
  writer.put(kBundleVersion);
  writer.put(static_cast<std::uint32_t>(head.target));
  writer.put(offset);
  writer.put_bytes(head.key);
  writer.put(static_cast<std::uint32_t>(head.entries.size()));
  for (const BundleEntry& entry : head.entries) {
    writer.put(static_cast<std::uint32_t>(entry.member));
    writer.put(entry.size);
    writer.put_bytes(entry.digest);
  }
  writer.pad_to(kSignatureAt);
  writer.put_bytes(sign(secret, writer.bytes()));
  return writer.take();
}

Result<BundleHead> parse_bundle_head(std::span<const std::byte> bytes, std::uint64_t file_size,
                                     const std::string& file) {
  const auto begins = [](std::span<const std::byte> text, std::string_view with) {
    return text.size() >= with.size() && as_text(text.first(with.size())) == with;
  };
  if (!begins(bytes, kShell)) {
    return Status(Code::bad_data, fmt::format("{}: not a bundle of engram", file));
  }
  if (bytes.size() != kBundleHeadBytes) return refused(file, "the bundle is cut short");
  ByteReader reader(bytes.first(kSignatureAt).subspan(kBundlePreambleBytes));
  if (as_text(reader.take_bytes(kBundleMagic.size())) != kBundleMagic) {
    return refused(file, "the bundle is damaged");
  }
  const auto version = reader.take<std::uint32_t>();
  if (version > kBundleVersion) {
    return Status(Code::not_supported,
                  fmt::format("{}: made by a newer engram (format {}; this one reads {}). Nothing "
                              "was changed; update engram first",
                              file, version, kBundleVersion));
  }
  const auto target = reader.take<std::uint32_t>();
  const auto total = reader.take<std::uint64_t>();
  BundleHead head;
  head.key = take_array<sizeof(PublicKey)>(reader);
  ByteReader mark(bytes.subspan(kSignatureAt));
  if (!signature_fits(head.key, bytes.first(kSignatureAt), take_array<sizeof(Signature)>(mark))) {
    return refused(file, "the signature does not fit: the bundle was damaged or changed");
  }
  if (version != kBundleVersion) return refused(file, "no format has the number 0");
  head.target = static_cast<BundleTarget>(target);
  if (target < 1 || target > 3) return refused(file, "it is for a machine that nobody knows");
  const auto count = reader.take<std::uint32_t>();
  if (count == 0 || count > kMostMembers) return refused(file, "its table makes no sense");
  std::uint32_t last = 0;
  std::uint64_t offset = kBundleHeadBytes;
  for (std::uint32_t i = 0; i < count; ++i) {
    BundleEntry entry;
    const auto member = reader.take<std::uint32_t>();
    if (member <= last || member > kMostMembers) return refused(file, "its table makes no sense");
    last = member;
    entry.member = static_cast<BundleMember>(member);
    entry.size = reader.take<std::uint64_t>();
    entry.digest = take_array<sizeof(Digest)>(reader);
    entry.offset = offset;
    if (entry.size == 0 || entry.size > most_bytes(entry.member)) {
      return refused(file, fmt::format("{} has an impossible size", name(entry.member)));
    }
    offset += entry.size;  // at most 8 GiB: no overflow
    head.entries.push_back(entry);
  }
  if (reader.failed() || !all_zero(reader.take_bytes(reader.left()))) {
    return refused(file, "its table makes no sense");
  }
  ENGRAM_TRY(check_members(head, file));
  if (offset != total) return refused(file, "its sizes do not add up");
  if (file_size < total) return refused(file, "the bundle is cut short");
  if (file_size > total) return refused(file, "the file is longer than the bundle in it");
  return head;
}

}  // namespace engram
