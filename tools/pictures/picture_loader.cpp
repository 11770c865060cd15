#include "tools/pictures/picture_loader.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace engram {

PictureLoader::PictureLoader(std::vector<std::string> paths, int threads)
    : paths_(std::move(paths)) {
  if (threads <= 1) return;
  const int count = std::min<int>(std::min(threads, 4), static_cast<int>(paths_.size()));
  try {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::exception&) {  // the system gives no more: those that there are will do
  }
}

PictureLoader::~PictureLoader() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// The one that is waited for may always begin; else a large picture could block the queue for ever.
bool PictureLoader::may_begin() const {
  return begun_ == given_ || (begun_ < given_ + kAheadPictures && ready_bytes_ < kAheadBytes);
}

void PictureLoader::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || begun_ == paths_.size() || may_begin(); });
    if (stop_ || begun_ == paths_.size()) return;
    const std::size_t index = begun_++;
    lock.unlock();
    Result<Image> picture = read_image(paths_[index]);
    lock.lock();
    if (picture.ok()) ready_bytes_ += picture->rgb.size();
    ready_.emplace(index, std::move(picture));
    changed_.notify_all();
  }
}

std::optional<Result<Image>> PictureLoader::next() {
  if (given_ == paths_.size()) return std::nullopt;
  if (threads_.empty()) return read_image(paths_[given_++]);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ready_.contains(given_); });
  auto node = ready_.extract(given_++);
  if (node.mapped().ok()) ready_bytes_ -= node.mapped()->rgb.size();
  changed_.notify_all();
  return std::move(node.mapped());
}

}  // namespace engram
