// The kernel matrix of kept samples, K = H HT, and the factor of K + lambda I, in one buffer.
//
// A GramView over samples: K below the diagonal, its diagonal apart, UT U = K + lambda I on and above.
// So every operation on G and its factor works on K and its factor as well.
//
// The buffer has room for more samples than it holds; `stride` is that room. It grows in small steps,
// in place where the machine allows it, and what is in it, the factor too, is kept.
#pragma once

#include <cstdint>
#include <span>

#include "engine/kept_samples.h"
#include "kernels/chosen_kernels.h"
#include "kernels/gram_view.h"
#include "platform/growing_buffer.h"
#include "platform/resizable_memory.h"
#include "platform/status.h"

namespace engram {

class KernelMatrix {
 public:
  // Room for so many samples; after a failure everything is as before.
  Status reserve(int samples);
  // Takes in the samples that `kept` has beyond size(), into reserved room. What is there does not
  // change: a factor of the samples before stays one of theirs.
  Status append(const Kernels& kernels, const KeptSamples& kept);
  // `indices` ascending. The factor is lost.
  void remove(std::span<const int> indices);

  int size() const { return size_; }
  // Only K's own size: U is of as many samples as were there when it was made.
  GramView view() const { return {data(), diagonal_.as<float>(), size_, capacity_}; }

  // Whether U is the factor of the first `samples` samples' K + lambda I. Those who write it say so.
  bool has_factor(double lambda, std::int64_t samples) const {
    return samples > 0 && samples == factor_size_ && lambda == factor_lambda_;
  }
  void set_factor(double lambda) {
    factor_lambda_ = lambda;
    factor_size_ = size_;
  }
  void drop_factor() { factor_size_ = 0; }

  static int capacity_for(int samples, int capacity);

 private:
  float* data() const { return static_cast<float*>(memory_.data()); }

  ResizableMemory memory_;
  GrowingBuffer diagonal_;
  int size_ = 0;
  int capacity_ = 0;
  int factor_size_ = 0;  // 0: none
  double factor_lambda_ = 0;
};

}  // namespace engram
