// Three hashes: sha256 names content (models, downloads), checksum64 guards it against damage,
// SecretHash against strangers. And a signature, which says who wrote something (Ed25519).
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

// SHA-256 in parts: feed them in order, then value().
using Digest = std::array<std::byte, 32>;
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();
  void add(std::span<const std::byte> bytes);
  Digest value();  // call once

 private:
  struct State;
  std::unique_ptr<State> state_;
};
std::string hex_of(std::span<const std::byte> bytes);  // two lower-case digits each

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
// Ed25519: who has the secret signs, who has the public key checks.
using PublicKey = std::array<std::byte, 32>;
using Signature = std::array<std::byte, 64>;
PublicKey public_key_of(const Secret& secret);
Signature sign(const Secret& secret, std::span<const std::byte> bytes);
bool signature_fits(const PublicKey& key, std::span<const std::byte> bytes, const Signature& mark);

std::string random_token();  // 128 random bits as 32 lower-case digits: nobody guesses it

}  // namespace engram
