#include "platform/device_staging.h"

#include <algorithm>
#include <map>

#include "platform/arena.h"

namespace engram {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kLeastChunk = std::size_t{1} << 16;

}  // namespace

DeviceStaging& DeviceStaging::of(const DeviceMemory& memory) {
  static std::mutex mutex;
  static auto* const all = new std::map<const DeviceMemory*, DeviceStaging*>();
  const std::lock_guard lock(mutex);
  DeviceStaging*& mine = (*all)[&memory];
  if (mine == nullptr) mine = new DeviceStaging(memory);
  return *mine;
}

DeviceStaging::~DeviceStaging() {
  clear();
}

void DeviceStaging::clear() {
  for (const Chunk& chunk : chunks_) memory_.release(chunk.data, chunk.bytes);
  chunks_.clear();
  used_ = 0;
}

std::size_t DeviceStaging::bytes() const {
  std::size_t sum = 0;
  for (const Chunk& chunk : chunks_) sum += chunk.bytes;
  return sum;
}

Status DeviceStaging::reserve(std::size_t bytes) {
  const std::lock_guard lock(turn_);
  if (chunks_.size() == 1 && chunks_[0].bytes >= bytes) return Status();
  clear();
  return take(bytes).status();
}

Status DeviceStaging::lost() const {
  const std::lock_guard lock(lost_mutex_);
  return lost_;
}

void DeviceStaging::try_again() {
  const std::lock_guard lock(lost_mutex_);
  lost_ = {};
  peak_ = 0;
  recordings_.failure = {};
}

Status DeviceStaging::noted(Status status) {
  if (status.code() != Code::device_failure) return status;
  const std::lock_guard lock(lost_mutex_);
  if (lost_.ok()) lost_ = status;
  return status;
}

Result<void*> DeviceStaging::take(std::size_t bytes) {
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (chunks_.empty() || bytes > chunks_.back().bytes - used_) {
    const std::size_t size = std::max({bytes, 2 * this->bytes(), kLeastChunk});
    const Result<void*> memory = memory_.allocate(size);
    if (!memory.ok()) return noted(memory.status());
    chunks_.push_back({static_cast<std::byte*>(memory.value()), size});
    used_ = 0;
  }
  void* const taken = chunks_.back().data + used_;
  used_ += bytes;
  turn_bytes_ += bytes;
  return taken;
}

Result<void*> allocate_noted(const DeviceMemory& memory, std::size_t bytes, bool shared) {
  Result<void*> taken = (shared ? memory.allocate_shared : memory.allocate)(bytes);
  if (!taken.ok()) (void)DeviceStaging::of(memory).noted(taken.status());
  return taken;
}

DeviceHold::DeviceHold() {
  const DeviceMemory* const memory = buffer_memory();
  if (memory == nullptr || memory->shares_while_running()) return;
  held_ = &DeviceStaging::of(*memory);
  held_->turn_.lock();
}

DeviceHold::~DeviceHold() {
  if (held_ != nullptr) held_->turn_.unlock();
}

void DeviceHold::let_others() {
  const DeviceMemory* const memory = buffer_memory();
  if (memory != nullptr) DeviceStaging::of(*memory).turn_.let_others();
}

Status StagingTurn::begin() {
  ENGRAM_TRY(staging_.lost());
  return staging_.noted(prepare());
}

Status StagingTurn::prepare() {
  ENGRAM_ASSIGN(stream_, memory_.open());
  staging_.used_ = 0;
  staging_.turn_bytes_ = 0;
  if (staging_.chunks_.size() > 1) {  // it grew in the last turn
    const std::size_t all = staging_.bytes();
    staging_.clear();
    ENGRAM_TRY(staging_.take(all).status());
    staging_.used_ = staging_.turn_bytes_ = 0;
  }
  return Status();
}

Result<void*> StagingTurn::place(const void* data, std::size_t pitch, std::size_t bytes,
                                 std::size_t rows, bool comes_back) {
  for (std::size_t i = 0; i < return_count_; ++i) {
    const Return& placed = returns_[i];
    const bool same = placed.host == data && placed.bytes == bytes && placed.rows == rows &&
                      (placed.pitch == pitch || rows == 1);
    if (same) return const_cast<void*>(placed.device);
  }
  const std::size_t row = row_pitch(bytes);
  ENGRAM_ASSIGN(void* there, staging_.take(row * rows));
  staging_.peak_ = std::max(staging_.peak_, staging_.turn_bytes_);
  ENGRAM_TRY(memory_.copy(stream_, there, row, data, pitch, bytes, rows));
  staging_.copied_ += bytes * rows;
  if (comes_back) {
    ENGRAM_CHECK(return_count_ < returns_.size());
    returns_[return_count_++] = {const_cast<void*>(data), pitch, there, bytes, rows};
  }
  return there;
}

Status StagingTurn::end(Status status) {
  // Also after a failure: some of the work may be under way.
  if (Status waited = memory_.synchronise(stream_); status.ok()) status = std::move(waited);
  if (status.ok() && staging_.measures_) {
    Result<double> seconds = memory_.seconds_between_marks();
    if (seconds.ok()) staging_.work_seconds_ = seconds.value();
    status = seconds.status();
  }
  if (status.ok() && return_count_ > 0) status = copy_back();
  return staging_.noted(std::move(status));
}

Status StagingTurn::copy_back() {
  for (std::size_t i = 0; i < return_count_; ++i) {
    const Return& back = returns_[i];
    ENGRAM_TRY(memory_.copy(stream_, back.host, back.pitch, back.device, row_pitch(back.bytes),
                            back.bytes, back.rows));
    staging_.copied_ += back.bytes * back.rows;
  }
  return memory_.synchronise(stream_);
}

}  // namespace engram
