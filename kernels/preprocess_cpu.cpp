// preprocess on the CPU. What is computed: preprocess.h; how it is resampled: resample_cpu.h.
#include "kernels/preprocess.h"

#include <algorithm>

#include "kernels/preprocess_axis.h"
#include "kernels/resample_cpu.h"

namespace engram::cpu {

Status preprocess(Stream /*stream*/, PictureView picture, const PreprocessSpec& how,
                  MatrixView<float> tensor) {
  ENGRAM_CHECK(picture.is_valid());
  ENGRAM_TRY(check_request(how));
  ENGRAM_CHECK(tensor.rows == 3 && tensor.cols == how.crop * how.crop);

  const int width = picture.width();
  const int height = picture.height();
  const int shorter = std::min(width, height);
  const int crop = how.crop;

  thread_local ResampleScratch
      scratch;  // kept per thread: after the first frame nothing is allocated
  resample(picture, resample_axis(width, shorter, how), crop, resample_axis(height, shorter, how),
           crop, scratch);

  for (int plane = 0; plane < 3; ++plane) {
    const int channel = how.order == ChannelOrder::rgb ? plane : 2 - plane;
    float normalised[256];
    for (int value = 0; value < 256; ++value) {
      normalised[value] = (static_cast<float>(value) - how.mean[channel]) / how.std[channel];
    }
    const int* sums = scratch.sums.data() + channel;
    float* out = tensor.row(plane);
    for (int i = 0; i < crop * crop; ++i) out[i] = normalised[byte_of(sums[3 * i])];
  }
  return Status();
}

}  // namespace engram::cpu
