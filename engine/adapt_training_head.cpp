// Where the head begins: a random one pulls the features about until it is learned itself, and a small
// first task ends before that. Class means tell the classes apart from the first step on.
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/adapt_training_impl.h"
#include "platform/device_staging.h"

namespace engram {
namespace {

double length_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

// Sums of unit features of each class, over pictures.
class ClassDirections {
 public:
  ClassDirections(int classes, int width)
      : width_(std::size_t(width)), sums_(std::size_t(classes) * width_) {}

  void add(int label, const float* features) {
    const std::vector<double> row(features, features + width_);
    const double length = std::max(length_of(row), 1e-12);
    for (std::size_t i = 0; i < width_; ++i) of(label)[i] += row[i] / length;
  }
  // As directions: unit means, and the mean of these taken away, since what all classes have in common
  // tells nothing. Each as long as `length`; a class without a picture stays as it is in `rows`.
  void write(double length, MatrixView<float> rows) {
    std::vector<double> common(width_);
    int seen = 0;
    for (int k = 0; k < rows.rows; ++k) {
      const double size = length_of(of(k));
      if (size == 0) continue;
      ++seen;
      for (std::size_t i = 0; i < width_; ++i) common[i] += of(k)[i] /= size;
    }
    for (int k = 0; k < rows.rows; ++k) {
      if (length_of(of(k)) == 0) continue;
      for (std::size_t i = 0; i < width_; ++i) of(k)[i] -= common[i] / seen;
      const double size = length_of(of(k));
      if (size < 1e-6) continue;  // it looks like all the others: its random start is as good
      for (std::size_t i = 0; i < width_; ++i) rows(k, int(i)) = float(of(k)[i] * length / size);
    }
  }

 private:
  std::span<double> of(int label) {
    return std::span(sums_).subspan(std::size_t(label) * width_, width_);
  }

  std::size_t width_;
  std::vector<double> sums_;
};

}  // namespace

Status AdaptTraining::Impl::start_head() {
  const int width = model.shape.features, size = buffers.picture_size;
  ClassDirections directions(data.classes, width);
  const auto most = std::size_t(settings.micro_batch);
  for (std::size_t first = 0; first < trained.size(); first += most) {
    const auto part = std::span(trained).subspan(first, std::min(trained.size() - first, most));
    const int count = int(part.size());
    ENGRAM_TRY(load(part, /*epoch=*/-1));
    const DeviceHold hold;
    const MatrixView<float> features = head.features(count);
    ENGRAM_TRY(network.forward({tensors.data(), count, size, size}, adapt, {}, features));
    for (int i = 0; i < count; ++i) directions.add(labels[std::size_t(i)], features.row(i));
  }
  const DeviceHold hold;
  // As long as the random ones are: how far a step turns a class vector depends on it.
  directions.write(std::sqrt(1.0 / 3), parameters.slice("head.weight"));
  *parameters.slice("head.sigma").data = float(settings.head_scale);
  keep_good();
  return {};
}

}  // namespace engram
