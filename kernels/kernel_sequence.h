// Operations that belong together: on a device one piece of work, and one wait.
//
//     KernelSequence together(kernels);
//     ENGRAM_TRY(kernels.quantise(...));
//     ENGRAM_TRY(kernels.sign_project(...));
//     ENGRAM_TRY(together.end());           // now results can be looked at
//
// Until end() operations may have done nothing yet: what one writes only a later one may read, in
// memory that the device reaches or under the same view. On the CPU each is done when it returns. Left
// without end(), what was not done is not done.
#pragma once

#include <utility>

#include "kernels/kernels.h"

namespace engram {

class KernelSequence {
 public:
  explicit KernelSequence(const Kernels& kernels) : end_(kernels.end_sequence) {
    if (kernels.begin_sequence != nullptr) kernels.begin_sequence();
  }
  ~KernelSequence() {
    if (end_ != nullptr) (void)end_(/*wanted=*/false);
  }
  KernelSequence(const KernelSequence&) = delete;
  KernelSequence& operator=(const KernelSequence&) = delete;

  Status end() {
    const auto finish = std::exchange(end_, nullptr);
    return finish == nullptr ? Status() : finish(/*wanted=*/true);
  }

 private:
  Status (*end_)(bool wanted);
};

}  // namespace engram
