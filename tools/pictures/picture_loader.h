// Reads and decodes pictures ahead of whoever needs them, in order, on threads of its own, so that
// the backbone does not wait for the disk or the JPEG decoder.
//
// Memory is bounded whatever the pictures are: at most kAheadPictures, and no further one is begun
// while those waiting hold more than kAheadBytes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "platform/image.h"
#include "platform/status.h"

namespace engram {

class PictureLoader {
 public:
  static constexpr std::size_t kAheadPictures = 64;
  static constexpr std::size_t kAheadBytes = 256 << 20;

  // threads <= 1, or none to be had: a picture is decoded when it is asked for.
  PictureLoader(std::vector<std::string> paths, int threads);
  ~PictureLoader();
  PictureLoader(const PictureLoader&) = delete;
  PictureLoader& operator=(const PictureLoader&) = delete;

  // The next picture in the order of `paths`, or why it cannot be had; nullopt at the end.
  std::optional<Result<Image>> next();

 private:
  void work();
  bool may_begin() const;  // with mutex_ held

  const std::vector<std::string> paths_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, Result<Image>> ready_;  // decoded, not yet asked for
  std::size_t ready_bytes_ = 0;
  std::size_t begun_ = 0;  // paths_[0, begun_) were taken by a thread
  std::size_t given_ = 0;  // paths_[0, given_) were handed out
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace engram
