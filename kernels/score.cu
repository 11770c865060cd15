// score on the GPU: limited by reading the readout, once for 16 frames. Of more than kOwnFrames frames
// it is a plain product and the library's, which shares loads of h between classes: in the model of
// kernels/roofline.h ours would reach 37 % of the limit at 256 frames. Math and shapes: score.h.
#include "kernels/score.h"

#include "kernels/dot_rows_device.h"
#include "platform/device_blas.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {

constexpr int kOwnFrames = 64;

Status score(Stream stream, MatrixView<const float> h, MatrixView<const float> readout,
             MatrixView<float> s) {
  ENGRAM_CHECK(h.cols == readout.cols);
  ENGRAM_CHECK(s.rows == h.rows && s.cols == readout.rows);
  if (s.rows == 0 || s.cols == 0) return Status();
  if (h.rows > kOwnFrames) return blas_multiply(stream, 1.0f, plain(h), turned(readout), 0.0f, s);
  return dot_rows(stream, h, readout, s);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
