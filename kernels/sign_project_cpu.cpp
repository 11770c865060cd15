// sign_project on the CPU. Math, shapes and layout: sign_project.h.
#include "kernels/sign_project.h"

#include <algorithm>

#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kLanes = 16;  // hidden units per step

void project_lanes(const std::int8_t* q, SignMatrixView w, int first_unit, std::int32_t* p) {
  const int lanes = std::min(kLanes, w.outputs - first_unit);
  std::int32_t sum[kLanes] = {};
  for (int k = 0; k < w.word_rows(); ++k) {
    std::uint32_t bits[kLanes] = {};
    for (int lane = 0; lane < lanes; ++lane) bits[lane] = w.word(k, first_unit + lane);

    const int inputs = std::min(32, w.inputs - 32 * k);  // never reads past q or the spare bits
    for (int j = 0; j < inputs; ++j) {
      const std::int32_t value = q[32 * k + j];
      for (int lane = 0; lane < kLanes; ++lane) {
        const auto minus = static_cast<std::int32_t>(bits[lane] >> j & 1u) - 1;  // -1 where W is -1
        sum[lane] += (value ^ minus) - minus;
      }
    }
  }
  std::copy_n(sum, lanes, p + first_unit);
}

}  // namespace

Status sign_project(Stream /*stream*/, MatrixView<const std::int8_t> q, SignMatrixView w,
                    MatrixView<std::int32_t> p) {
  ENGRAM_CHECK(q.cols == w.inputs);
  ENGRAM_CHECK(p.rows == q.rows && p.cols == w.outputs);
  parallel_for(w.outputs, 64 * kLanes, [&](int begin, int end) {
    for (int b = 0; b < q.rows; ++b) {
      for (int m = begin; m < end; m += kLanes) project_lanes(q.row(b), w, m, p.row(b));
    }
  });
  return Status();
}

}  // namespace engram::cpu
