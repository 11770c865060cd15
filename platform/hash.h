// Three hashes: sha256 names content (models, downloads), checksum64 guards it against damage,
// SecretHash against strangers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "platform/status.h"

namespace engram {

std::string sha256_hex(std::span<const std::byte> bytes);  // 64 lower-case digits
Result<std::string> sha256_of_file(const std::string& path);

// XXH3-64. Incremental: feed parts in order, then value().
std::uint64_t checksum64(std::span<const std::byte> bytes);
class Checksum64 {
 public:
  Checksum64();
  Checksum64(Checksum64&&) noexcept;
  Checksum64& operator=(Checksum64&&) noexcept;
  ~Checksum64();
  void add(std::span<const std::byte> bytes);
  std::uint64_t value() const;

 private:
  void* state_;
};

// BLAKE2b keyed with a secret: who does not know the secret cannot make a value that fits.
using Secret = std::array<std::byte, 32>;
using SecretTag = std::array<std::byte, 32>;
class SecretHash {
 public:
  explicit SecretHash(const Secret& secret);
  SecretHash(SecretHash&&) noexcept;
  SecretHash& operator=(SecretHash&&) noexcept;
  ~SecretHash();
  void add(std::span<const std::byte> bytes);
  SecretTag value();  // call once

 private:
  struct State;
  std::unique_ptr<State> state_;
};
// In a time that does not depend on where they differ.
bool same_tag(const SecretTag& a, const SecretTag& b);
bool same_text(std::string_view a, std::string_view b);  // the same; only the length may be told
Secret random_secret();
std::string random_token();  // 128 random bits as 32 lower-case digits: nobody guesses it

}  // namespace engram
