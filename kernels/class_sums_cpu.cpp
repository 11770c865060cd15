// class_sums on the CPU. Math and shapes: class_sums.h.
#include "kernels/class_sums.h"

#include <algorithm>

#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kGrain = 2048;  // hidden units per piece of work: threads never share a sum

}  // namespace

Status class_sums(Stream /*stream*/, MatrixView<const float> h,
                  MatrixView<const std::int32_t> labels, float sign, MatrixView<float> c) {
  ENGRAM_CHECK(h.cols == c.cols);
  ENGRAM_CHECK(h.rows == 0 || (labels.rows == 1 && labels.cols == h.rows));
  const std::int32_t* label = labels.data;
  for (int b = 0; b < h.rows; ++b) ENGRAM_CHECK(label[b] >= 0 && label[b] < c.rows);

  parallel_for(h.cols, kGrain, [&](int begin, int end) {
    for (int b = 0; b < h.rows; ++b) {
      const float* in = h.row(b);
      float* sum = c.row(label[b]);
      for (int m = begin; m < end; ++m) sum[m] += sign * in[m];
    }
  });
  return Status();
}

}  // namespace engram::cpu
