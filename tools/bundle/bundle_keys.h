// Keys of bundles. One that signs belongs to a person at a desk; those that are trusted belong to a device.
//
//   HOME/keys/bundle.key           the secret, readable by its owner only
//   /etc/engram/bundle-keys        public keys that this machine trusts, one a line; only root writes there
#pragma once

#include <string>
#include <vector>

#include "platform/hash.h"
#include "platform/status.h"

namespace engram {

std::string signing_key_file(const std::string& home);
// Makes one; refused if there is one, which would make devices refuse what comes next.
Result<PublicKey> make_signing_key(const std::string& home);
Result<Secret> read_signing_key(const std::string& home);  // not_found: and how to make one

// 64 hexadecimal digits, upper or lower case; spaces, colons and dashes between them do not count.
Result<PublicKey> parse_public_key(const std::string& text);
std::string fingerprint(const PublicKey& key);  // the digits in groups, for people to compare

std::string trusted_keys_file(const std::string& root);
// None where there is no file. bad_data: "FILE:LINE: ...".
Result<std::vector<PublicKey>> trusted_keys(const std::string& root);
Status trust_key(const std::string& root, const PublicKey& key);  // one more, durably

}  // namespace engram
