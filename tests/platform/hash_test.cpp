#include "platform/hash.h"

#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "platform/file.h"
#include "tests/support/catch.h"
#include "tests/support/temp_directory.h"

namespace engram {

namespace {
std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}
}  // namespace

TEST_CASE("sha256 of known texts", "[platform][hash]") {
  // FIPS 180-2, appendix B.
  REQUIRE(sha256_hex(bytes_of("")) ==
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  REQUIRE(sha256_hex(bytes_of("abc")) ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("sha256 of a file is that of its bytes", "[platform][hash]") {
  const test::TempDirectory directory;
  const std::string text(3'000'001, 'x');  // more than one read
  REQUIRE(replace_file(directory / "file", bytes_of(text)).ok());
  REQUIRE(sha256_of_file(directory / "file").value() == sha256_hex(bytes_of(text)));
  REQUIRE(sha256_of_file(directory / "absent").status().code() == Code::not_found);
  REQUIRE(sha256_of_file(directory.path()).status().code() == Code::bad_data);
  REQUIRE(::mkfifo((directory / "fifo").c_str(), 0600) == 0);
  REQUIRE(sha256_of_file(directory / "fifo").status().code() == Code::bad_data);  // does not wait
}

TEST_CASE("sha256 in parts", "[platform][hash]") {
  Sha256 parts;
  parts.add(bytes_of("a"));
  parts.add({});
  parts.add(bytes_of("bc"));
  REQUIRE(hex_of(parts.value()) == sha256_hex(bytes_of("abc")));
}

TEST_CASE("signatures are Ed25519's, and fit one key and one text", "[platform][hash]") {
  // RFC 8032, 7.1, test 2.
  const unsigned char seed[] = {0x4c, 0xcd, 0x08, 0x9b, 0x28, 0xff, 0x96, 0xda, 0x9d, 0xb6, 0xc3,
                                0x46, 0xec, 0x11, 0x4e, 0x0f, 0x5b, 0x8a, 0x31, 0x9f, 0x35, 0xab,
                                0xa6, 0x24, 0xda, 0x8c, 0xf6, 0xed, 0x4f, 0xb8, 0xa6, 0xfb};
  Secret secret;
  std::copy_n(reinterpret_cast<const std::byte*>(seed), secret.size(), secret.begin());
  const PublicKey key = public_key_of(secret);
  REQUIRE(hex_of(key) == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
  const Signature mark = sign(secret, bytes_of("r"));
  REQUIRE(hex_of(mark) ==
          "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
          "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
  REQUIRE(signature_fits(key, bytes_of("r"), mark));
  REQUIRE_FALSE(signature_fits(key, bytes_of("s"), mark));
  REQUIRE_FALSE(signature_fits(key, {}, mark));
  REQUIRE_FALSE(signature_fits(public_key_of(Secret{}), bytes_of("r"), mark));
  REQUIRE_FALSE(signature_fits(PublicKey{}, bytes_of("r"), mark));
  for (std::size_t at = 0; at < mark.size(); ++at) {
    Signature changed = mark;
    changed[at] ^= std::byte{1};
    REQUIRE_FALSE(signature_fits(key, bytes_of("r"), changed));
  }
}

TEST_CASE("checksum64 is XXH3-64, whole or in parts", "[platform][hash]") {
  REQUIRE(checksum64({}) == 0x2d06800538d394c2);  // the published value of no bytes
  std::string text;
  for (int i = 0; i < 2000; ++i) text += char(i * 7);
  Checksum64 parts;
  for (std::size_t at = 0; at < text.size(); at += 13) parts.add(bytes_of(text.substr(at, 13)));
  REQUIRE(parts.value() == checksum64(bytes_of(text)));
  Checksum64 moved = std::move(parts);
  moved.add({});
  REQUIRE(moved.value() == checksum64(bytes_of(text)));
  moved = Checksum64();
  REQUIRE(moved.value() == checksum64({}));
}

TEST_CASE("tokens are long, plain and never the same", "[platform][hash]") {
  const std::string token = random_token(), other = random_token();
  REQUIRE(token.size() == 32);
  REQUIRE(token.find_first_not_of("0123456789abcdef") == std::string::npos);
  REQUIRE_FALSE(same_text(token, other));
  REQUIRE(same_text(token, std::string(token)));
  REQUIRE_FALSE(same_text(token, token + "0"));
  REQUIRE_FALSE(same_text(token, token.substr(1)));
  REQUIRE(same_text("", ""));
}

}  // namespace engram
