#include "tools/adapt/training_pictures.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "engine/augment.h"
#include "engine/bounded_picture.h"
#include "kernels/kernels.h"
#include "platform/hash.h"
#include "platform/sentence.h"
#include "platform/threads.h"
#include "tools/console/terminal.h"

namespace engram {
namespace {

// body(i) for each i, several at a time; the first failure, whichever thread met it.
template <class Body>
Status for_each_in_parallel(int count, const Body& body) {
  std::mutex guard;
  Status failed;
  parallel_for(count, 1, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      Status done;
      try {
        done = body(i);
      } catch (const std::exception&) {  // a picture's memory
        done = Status(Code::out_of_memory,
                      "not enough memory for the pictures; give less with --memory, or close other "
                      "programs");
      }
      if (done.ok()) continue;
      const std::lock_guard<std::mutex> hold(guard);
      if (failed.ok()) failed = done;
    }
  });
  return failed;
}

std::span<const std::byte> bytes_of(const auto& values) {
  return std::as_bytes(std::span(values.data(), values.size()));
}

}  // namespace

int kept_side(const PreprocessSpec& how) {
  return std::max(2 * how.crop, how.resize);
}

Result<TrainingPictures> TrainingPictures::read(const std::vector<LabelledPath>& items,
                                                const PreprocessSpec& how, std::int64_t memory,
                                                const Console& console) {
  TrainingPictures all;
  all.how_ = how;
  std::vector<std::string> paths, labels;
  for (const LabelledPath& item : items) paths.push_back(item.path);
  Checksum64 checksum;
  const auto keep = [&](std::span<const std::size_t> indices, std::span<const Image> pictures,
                        std::vector<SkippedPicture>&) -> Status {
    std::vector<Image> small(pictures.size());
    ENGRAM_TRY(for_each_in_parallel(int(pictures.size()), [&](int i) {
      small[std::size_t(i)] = bounded_picture(pictures[std::size_t(i)], kept_side(how));
      return Status();
    }));
    for (std::size_t i = 0; i < small.size(); ++i) {
      const int size[2] = {small[i].width, small[i].height};
      checksum.add(std::as_bytes(std::span(size)));
      checksum.add(bytes_of(small[i].rgb));
      all.paths_.push_back(paths[indices[i]]);
      labels.push_back(items[indices[i]].label);
      const auto bytes = std::int64_t(small[i].rgb.size());
      if (all.kept_bytes_ + bytes <= memory) {
        all.kept_bytes_ += bytes;
        ++all.kept_;
      } else {
        small[i].rgb = {};
      }
      all.pictures_.push_back(std::move(small[i]));
    }
    return {};
  };
  ENGRAM_ASSIGN(all.skipped_, stream_pictures(paths, "read", console, keep));
  const std::set<std::string> names(labels.begin(), labels.end());
  all.classes_.assign(names.begin(), names.end());
  for (const std::string& name : all.classes_) {
    checksum.add(bytes_of(name));
    checksum.add(std::as_bytes(std::span("\0", 1)));
  }
  for (const std::string& label : labels) {
    const auto found = std::lower_bound(all.classes_.begin(), all.classes_.end(), label);
    all.labels_.push_back(int(found - all.classes_.begin()));
  }
  checksum.add(bytes_of(all.labels_));
  all.digest_ = checksum.value();
  return all;
}

Result<Image> TrainingPictures::picture(int sample) const {
  const Image& kept = pictures_[std::size_t(sample)];
  if (!kept.rgb.empty()) return kept;
  const std::string& path = paths_[std::size_t(sample)];
  ENGRAM_ASSIGN(Image read, read_image(path));
  Image small = bounded_picture(std::move(read), kept_side(how_));
  if (small.width != kept.width || small.height != kept.height) {
    return Status(Code::bad_data, fmt::format("{}: it changed since training began; put the old "
                                              "picture back, or begin again",
                                              printable(path)));
  }
  return small;
}

Status TrainingPictures::one_tensor(int sample, int epoch, std::uint64_t seed,
                                    MatrixView<float> tensor) const {
  Image again;
  const Image* shown = &pictures_[std::size_t(sample)];
  if (shown->rgb.empty()) {
    ENGRAM_ASSIGN(again, picture(sample));
    shown = &again;
  }
  if (epoch < 0) return chosen_kernels().preprocess({}, {shown->view()}, how_, tensor);
  const RandomCrop crop = random_crop(shown->width, shown->height, {seed, epoch, sample});
  return augment(*shown, crop, how_, tensor);
}

Status TrainingPictures::tensors(std::span<const int> samples, int epoch, std::uint64_t seed,
                                 MatrixView<float> tensors) const {
  const int pixels = how_.crop * how_.crop;
  ENGRAM_CHECK(tensors.rows == int(samples.size()) && tensors.cols == 3 * pixels);
  return for_each_in_parallel(tensors.rows, [&](int i) {
    return one_tensor(samples[std::size_t(i)], epoch, seed, {tensors.row(i), 3, pixels, pixels});
  });
}

}  // namespace engram
