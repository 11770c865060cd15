// A task for a small Vision Transformer: pictures of a few classes, each a pattern under noise that is
// another in every epoch.
#pragma once

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "engine/adapt_training.h"
#include "tests/support/small_vit.h"

namespace engram::test {

inline void draw_picture(const VitShape& shape, int label, unsigned number, float* pixels) {
  const int size = 3 * shape.image * shape.image;
  std::mt19937 pattern(unsigned(100 + label)), noise(number);
  std::normal_distribution<float> normal;
  for (int i = 0; i < size; ++i) pixels[i] = normal(pattern);
  normal.reset();
  for (int i = 0; i < size; ++i) pixels[i] += 0.8f * normal(noise);
}

// `held_out` of the `count` samples, every n-th, are held out.
inline AdaptData small_task(const VitShape& shape, int classes, int count, int held_out) {
  AdaptData data;
  data.classes = classes;
  for (int i = 0; i < count; ++i) data.labels.push_back(i * 7 % classes);
  for (int i = 0; i < held_out; ++i) data.held_out.push_back(i * (count / held_out));
  const std::vector<int> labels = data.labels;
  data.pictures = [shape, labels](std::span<const int> samples, int epoch,
                                  MatrixView<float> tensors) {
    for (int i = 0; i < int(samples.size()); ++i) {
      const int sample = samples[std::size_t(i)];
      draw_picture(shape, labels[std::size_t(sample)], unsigned(1000 * sample + epoch + 1),
                   tensors.row(i));
    }
    return Status();
  };
  return data;
}

}  // namespace engram::test
