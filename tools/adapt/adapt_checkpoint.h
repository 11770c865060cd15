// A training of `engram adapt` on disk, so that it can go on after a kill, a power cut or Ctrl-C.
//
//   at   what, little-endian
//   0    8 bytes "EGADAPT\1"
//   8    u64 checksum64 of everything behind it
//   16   u64 digest of the pictures; u32 right, u32 count of the nearest class means before (count 0:
//        not measured); text: name of the model, text: backbone_of it, text: AdaptTraining::save;
//        u64 n, n floats: parameters of the best epoch (0: none yet)
//
// A text is a u64 length and its bytes. The file is replaced whole (platform/file.h): after any
// failure the one before is there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "platform/file.h"
#include "platform/status.h"

namespace engram {

// Right answers of nearest class means, of pictures that were held out.
struct RightAnswers {
  int right = 0, count = 0;
  double percent() const { return count == 0 ? 0.0 : 100.0 * right / count; }
};

struct AdaptCheckpoint {
  std::uint64_t pictures = 0;  // TrainingPictures::digest
  RightAnswers before;
  std::string model, backbone;  // the model's name and what it is (engine/state_backbone.h)
  std::string training;
  std::vector<float> best;
};

std::vector<std::byte> encode(const AdaptCheckpoint& checkpoint);
// bad_data: damaged, or no such file at all; begins with `name`.
Result<AdaptCheckpoint> parse_adapt_checkpoint(std::span<const std::byte> bytes,
                                               const std::string& name);

// The file of one training, and the right to write it.
class AdaptCheckpointFile {
 public:
  // HOME/adapting/<model>.training. busy: another process adapts this model. io_failure: the folder
  // cannot be made.
  static Result<AdaptCheckpointFile> open(const std::string& home, const std::string& model,
                                          FileSystem& files = real_files());

  const std::string& path() const { return path_; }
  // None: there is no file.
  Result<std::optional<AdaptCheckpoint>> load() const;
  // Durable when it returns ok.
  Status save(const AdaptCheckpoint& checkpoint) const;
  Status remove() const;

 private:
  AdaptCheckpointFile(std::string path, FileLock lock, FileSystem& files)
      : path_(std::move(path)), lock_(std::move(lock)), files_(&files) {}

  std::string path_;
  FileLock lock_;
  FileSystem* files_;
};

}  // namespace engram
