// Engines on disk: built once, for this device, and believed by no other.
//
//   HOME/engines/<name>.engine    name: the first 32 digits of sha256 of the key's text
//   HOME/engines/<name>.refused   why none could be built: a note, so that it is not tried at every start
//   HOME/engines/secret           32 random bytes, mode 0600
//
//   at 0   8    "ENGRAMTE"; of a note "ENGRAMTN"
//      8   u32  format version: 1
//     12   u32  bytes of the key's text
//     16   u64  bytes of the engine, or of the note's sentence
//     24   32   BLAKE2b-256, keyed with the secret and the machine's id, of all else
//     56        the key's text, then the engine or the sentence
//
// Numbers are little-endian. The tag means that the bytes were written by somebody who could read
// the secret: this user on this machine. Loading an engine of anybody else is running his code.
//
// The key has the versions of library and driver in it. What an update leaves behind is removed when
// an engine is written for the same model and shape; other power modes' stay, they come back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "platform/engine_library.h"
#include "platform/file.h"
#include "platform/hash.h"
#include "platform/status.h"

namespace engram {

struct EngineKey {
  std::string model_sha256;
  EngineDevice device;
  EngineRequest request;
  std::string text() const;       // one line per field that an engine depends on
  std::string file_name() const;  // "<32 digits>.engine"
};

class EngineCache {
 public:
  // Makes the folder and the secret where they are missing. io_failure: they cannot be made or
  // read; bad_data: others than the owner may read the secret. Work goes on without a cache.
  static Result<EngineCache> open(const std::string& folder, FileSystem& files = real_files());

  // not_found: none yet. bad_data: cut off, damaged, of another device or another version: a
  // sentence, and the caller builds it again.
  Result<std::vector<std::byte>> read(const EngineKey& key) const;
  Status write(const EngineKey& key,
               std::span<const std::byte> engine) const;  // and forgets why not
  std::string path(const EngineKey& key) const { return folder_ + "/" + key.file_name(); }

  // Why it could not be built, in a sentence: codes as above.
  // not_found: there is none, or it is older than a day: what it was for may have passed.
  Result<std::string> read_refusal(const EngineKey& key) const;
  Status write_refusal(const EngineKey& key, const std::string& why) const;
  void forget_refusal(const EngineKey& key) const;
  std::string refusal_path(const EngineKey& key) const;

  // Only one process builds at a time: it takes much memory. busy: another one does.
  Result<FileLock> lock_for_building() const { return FileLock::acquire(folder_ + "/lock"); }

 private:
  EngineCache(std::string folder, const Secret& secret, FileSystem& files)
      : folder_(std::move(folder)), secret_(secret), files_(&files) {}
  SecretTag tag(std::span<const std::byte> head, std::span<const std::byte> body) const;
  Result<std::vector<std::byte>> read_sealed(const std::string& path, const char* magic,
                                             const EngineKey& key) const;
  Status write_sealed(const std::string& path, const char* magic, const EngineKey& key,
                      std::span<const std::byte> content) const;
  void remove_outdated(const EngineKey& key) const;

  std::string folder_;
  Secret secret_;
  FileSystem* files_;
};

}  // namespace engram
