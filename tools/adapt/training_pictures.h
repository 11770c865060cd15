// The pictures that a backbone adapts to, and how they become tensors.
//
// Each is decoded once, made no larger than training needs (engine/bounded_picture.h) and kept as
// bytes while they fit the memory that was allowed; the others are decoded again whenever they are
// needed, by all threads. Either way the tensors are the same to the bit: they depend on the pixels,
// the seed, the epoch and the sample's number, and on nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/preprocess.h"
#include "platform/image.h"
#include "platform/matrix_view.h"
#include "platform/status.h"
#include "tools/console/console.h"
#include "tools/pictures/label_file.h"
#include "tools/pictures/picture_stream.h"

namespace engram {

// The shorter side of what is kept: room for a crop of a quarter of the picture without enlarging.
int kept_side(const PreprocessSpec& how);

class TrainingPictures {
 public:
  // Pictures that cannot be read are warned of, listed and left out. memory: bytes that may be kept.
  static Result<TrainingPictures> read(const std::vector<LabelledPath>& items,
                                       const PreprocessSpec& how, std::int64_t memory,
                                       const Console& console);

  int count() const { return int(labels_.size()); }
  const std::vector<int>& labels() const { return labels_; }            // into classes()
  const std::vector<std::string>& classes() const { return classes_; }  // with a picture, sorted
  const std::vector<std::string>& paths() const { return paths_; }      // one per sample
  const std::vector<SkippedPicture>& skipped() const { return skipped_; }
  int kept() const { return kept_; }  // samples in memory
  std::int64_t kept_bytes() const { return kept_bytes_; }
  std::uint64_t digest() const { return digest_; }  // of classes, labels and pixels

  // (samples.size(), 3 * crop * crop). Epoch 0, 1, ...: randomly cropped and mirrored, by
  // (seed, epoch, sample) (engine/augment.h); -1: as when the model is used.
  Status tensors(std::span<const int> samples, int epoch, std::uint64_t seed,
                 MatrixView<float> tensors) const;
  // The picture itself, as it is kept.
  Result<Image> picture(int sample) const;

 private:
  Status one_tensor(int sample, int epoch, std::uint64_t seed, MatrixView<float> tensor) const;

  PreprocessSpec how_;
  std::vector<std::string> paths_, classes_;
  std::vector<int> labels_;
  std::vector<Image> pictures_;  // one per sample; without pixels where it is read again
  std::vector<SkippedPicture> skipped_;
  int kept_ = 0;
  std::int64_t kept_bytes_ = 0;
  std::uint64_t digest_ = 0;
};

}  // namespace engram
