// Memory of readouts, handed on: the readout of a sample learned at once is as large as the one before
// it, and taking, clearing and giving back its pages would cost as much as the arithmetic.
//
// One readout that nobody answers with any more is kept. It comes back when its last user lets go of it,
// on whatever thread that is; a readout in use is never written.
#pragma once

#include <memory>
#include <mutex>

#include "engine/readout.h"

namespace engram {

class ReadoutPool {
 public:
  // A readout with memory and numbers of an old one, or a new one.
  std::shared_ptr<Readout> take();
  // Gives back the one that is kept.
  void clear();

 private:
  struct Shelf {
    std::mutex mutex;
    std::unique_ptr<Readout> spare;
  };
  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();  // readouts may outlive the pool
};

}  // namespace engram
