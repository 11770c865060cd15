#include "engine/readout_pool.h"

#include <utility>

namespace engram {

std::shared_ptr<Readout> ReadoutPool::take() {
  std::unique_ptr<Readout> readout;
  {
    const std::lock_guard lock(shelf_->mutex);
    readout = std::move(shelf_->spare);
  }
  // Buffers may lie elsewhere by now: a device was lost or chosen.
  const bool usable = readout != nullptr &&
                      readout->weights.get_allocator() == SharedVector<float>::allocator_type();
  if (!usable) readout = std::make_unique<Readout>();
  return {readout.release(), [shelf = shelf_](Readout* old) {
            std::unique_ptr<Readout> spare(old);
            const std::lock_guard lock(shelf->mutex);
            shelf->spare.swap(spare);
          }};
}

void ReadoutPool::clear() {
  std::unique_ptr<Readout> spare;
  const std::lock_guard lock(shelf_->mutex);
  shelf_->spare.swap(spare);
}

}  // namespace engram
