#include "platform/hash.h"

#include <sodium.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "platform/descriptor.h"
#include "platform/file.h"

namespace engram {

namespace {

const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

unsigned char* raw(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

}  // namespace

std::string hex_of(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

struct Sha256::State {
  crypto_hash_sha256_state hash;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  crypto_hash_sha256_init(&state_->hash);
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::add(std::span<const std::byte> bytes) {
  crypto_hash_sha256_update(&state_->hash, raw(bytes.data()), bytes.size());
}

Digest Sha256::value() {
  Digest digest;
  crypto_hash_sha256_final(&state_->hash, raw(digest.data()));
  return digest;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Digest digest;
  crypto_hash_sha256(raw(digest.data()), raw(bytes.data()), bytes.size());
  return hex_of(digest);
}

Result<std::string> sha256_of_file(const std::string& path) {
  ENGRAM_ASSIGN(const int opened, open_plain_file(path));
  const Descriptor file(opened);
  Sha256 hash;
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  ssize_t count = 0;
  int error = 0;
  do {
    count = ::read(file.get(), buffer.data(), buffer.size());
    error = count < 0 ? errno : 0;
    if (count > 0) hash.add(std::span(buffer).first(std::size_t(count)));
  } while (count > 0 || error == EINTR);
  if (error != 0) {
    return Status(Code::io_failure, path + ": cannot be read: " + std::strerror(error) + ".");
  }
  return hex_of(hash.value());
}

std::uint64_t checksum64(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

Checksum64::Checksum64() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();  // as the others here
  XXH3_64bits_reset(static_cast<XXH3_state_t*>(state_));
}

Checksum64::Checksum64(Checksum64&& other) noexcept
    : state_(std::exchange(other.state_, nullptr)) {}

Checksum64& Checksum64::operator=(Checksum64&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Checksum64::~Checksum64() {
  XXH3_freeState(static_cast<XXH3_state_t*>(state_));
}

void Checksum64::add(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;  // XXH3 wants a pointer, an empty span may have none
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state_), bytes.data(), bytes.size());
}

std::uint64_t Checksum64::value() const {
  return XXH3_64bits_digest(static_cast<const XXH3_state_t*>(state_));
}

struct SecretHash::State {
  crypto_generichash_state hash;
};

SecretHash::SecretHash(const Secret& secret) : state_(std::make_unique<State>()) {
  crypto_generichash_init(&state_->hash, raw(secret.data()), secret.size(), sizeof(SecretTag));
}
SecretHash::SecretHash(SecretHash&&) noexcept = default;
SecretHash& SecretHash::operator=(SecretHash&&) noexcept = default;
SecretHash::~SecretHash() = default;

void SecretHash::add(std::span<const std::byte> bytes) {
  crypto_generichash_update(&state_->hash, raw(bytes.data()), bytes.size());
}

SecretTag SecretHash::value() {
  SecretTag tag;
  crypto_generichash_final(&state_->hash, reinterpret_cast<unsigned char*>(tag.data()), tag.size());
  return tag;
}

bool same_tag(const SecretTag& a, const SecretTag& b) {
  return sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool same_text(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string random_token() {
  const Secret secret = random_secret();
  return sha256_hex(secret).substr(0, 32);
}

Secret random_secret() {
  ENGRAM_CHECK(sodium_init() >= 0);
  Secret secret;
  randombytes_buf(secret.data(), secret.size());
  return secret;
}

namespace {

// libsodium's secret key is the seed and the public key behind it.
struct KeyPair {
  PublicKey open;
  std::array<unsigned char, crypto_sign_SECRETKEYBYTES> secret;
  explicit KeyPair(const Secret& seed) {
    ENGRAM_CHECK(sodium_init() >= 0);
    crypto_sign_seed_keypair(raw(open.data()), secret.data(), raw(seed.data()));
  }
  ~KeyPair() { sodium_memzero(secret.data(), secret.size()); }
};

}  // namespace

PublicKey public_key_of(const Secret& secret) {
  return KeyPair(secret).open;
}

Signature sign(const Secret& secret, std::span<const std::byte> bytes) {
  const KeyPair pair(secret);
  Signature mark;
  crypto_sign_detached(raw(mark.data()), nullptr, raw(bytes.data()), bytes.size(),
                       pair.secret.data());
  return mark;
}

bool signature_fits(const PublicKey& key, std::span<const std::byte> bytes, const Signature& mark) {
  return crypto_sign_verify_detached(raw(mark.data()), raw(bytes.data()), bytes.size(),
                                     raw(key.data())) == 0;
}

}  // namespace engram
