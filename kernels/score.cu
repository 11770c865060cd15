// score on the GPU: limited by reading the readout, once for 16 frames, and by loads of h where
// there are many. Math and shapes: score.h.
#include "kernels/score.h"

#include "kernels/dot_rows_device.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {

Status score(Stream stream, MatrixView<const float> h, MatrixView<const float> readout,
             MatrixView<float> s) {
  ENGRAM_CHECK(h.cols == readout.cols);
  ENGRAM_CHECK(s.rows == h.rows && s.cols == readout.rows);
  if (s.rows == 0 || s.cols == 0) return Status();
  return dot_rows(stream, h, readout, s);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
