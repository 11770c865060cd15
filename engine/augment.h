// Pictures as they are shown while a backbone adapts (Phase 1): torchvision's RandomResizedCrop and
// RandomHorizontalFlip, by our own image code.
//
//     area   uniform in [least_area, most_area] of the picture
//     ratio  width to height, log-uniform in [narrowest, widest]
//     box    round(sqrt(area * ratio)) x round(sqrt(area / ratio)), at a uniform place; ten tries,
//            then the largest box in the middle whose ratio is allowed
//     tensor the box resized to crop x crop (bilinear, antialiased, as Pillow does it), mirrored by
//            chance, normalised as the model's card says
//
// Chance comes from Philox by (seed, epoch, sample) and nothing else: not the batch, the thread or the
// pictures before. Rounding is Python's, halves to even.
#pragma once

#include <cstdint>

#include "kernels/chosen_kernels.h"
#include "kernels/preprocess.h"
#include "platform/image.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

struct AugmentSpec {  // as in the paper
  double least_area = 0.05, most_area = 1.0;
  double narrowest = 3.0 / 4.0, widest = 4.0 / 3.0;
  double mirrored = 0.5;  // share of pictures
};

struct AugmentKey {
  std::uint64_t seed = 0;
  int epoch = 0;
  int sample = 0;
};

struct RandomCrop {
  int left = 0, top = 0, width = 0, height = 0;
  bool mirrored = false;
};

// width, height >= 1: of the picture.
RandomCrop random_crop(int width, int height, const AugmentKey& key, const AugmentSpec& spec = {});

// `how`: the model's; its crop and normalisation are used. tensor (3, crop * crop), written in full.
Status augment(const Image& picture, const RandomCrop& crop, const PreprocessSpec& how,
               MatrixView<float> tensor, const Kernels& kernels = chosen_kernels());

}  // namespace engram
