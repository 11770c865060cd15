#include "engine/linear_probe.h"

#include <algorithm>
#include <cmath>

#include "engine/metrics.h"
#include "kernels/matrix_product_cpu.h"
#include "platform/blas.h"

namespace engram {
namespace {

// Rows of unit length; a row of zeros stays.
std::vector<float> unit_rows(MatrixView<const float> rows, std::vector<float>* lengths = nullptr) {
  std::vector<float> result(std::size_t(rows.rows) * std::size_t(rows.cols));
  if (lengths != nullptr) lengths->assign(std::size_t(rows.rows), 0.0f);
  for (int r = 0; r < rows.rows; ++r) {
    double squares = 0;
    for (int c = 0; c < rows.cols; ++c) squares += double(rows(r, c)) * rows(r, c);
    const double length = std::sqrt(squares);
    for (int c = 0; c < rows.cols; ++c) {
      result[std::size_t(r) * std::size_t(rows.cols) + std::size_t(c)] =
          length > 0 ? float(rows(r, c) / length) : 0.0f;
    }
    if (lengths != nullptr) (*lengths)[std::size_t(r)] = float(length);
  }
  return result;
}

// The state of SGD.
class Training {
 public:
  Training(MatrixView<const float> features, std::span<const int> classes, int class_count,
           const ProbeSettings& settings)
      : settings_(settings),
        labels_(classes),
        width_(features.cols),
        classes_(class_count),
        x_(unit_rows(features)),
        random_(settings.seed),
        w_(std::size_t(class_count) * std::size_t(width_)),
        speed_(w_.size()),
        gradient_(w_.size()) {
    const double bound = 1.0 / std::sqrt(double(width_));
    for (float& weight : w_) weight = float(bound * (2 * random_.uniform() - 1));
  }

  void epoch() {
    const std::vector<int> order = random_.permutation(int(labels_.size()));
    for (std::size_t first = 0; first < order.size(); first += std::size_t(settings_.batch)) {
      const std::size_t count = std::min(order.size() - first, std::size_t(settings_.batch));
      step(std::span(order).subspan(first, count));
    }
  }
  std::vector<float> directions() const { return unit_rows({w_.data(), classes_, width_, width_}); }
  float sigma() const { return sigma_; }

 private:
  void step(std::span<const int> samples) {
    const int rows = int(samples.size());
    batch_.resize(samples.size() * std::size_t(width_));
    for (std::size_t b = 0; b < samples.size(); ++b) {
      std::copy_n(x_.data() + std::size_t(samples[b]) * std::size_t(width_), width_,
                  batch_.data() + b * std::size_t(width_));
    }
    std::vector<float> lengths;
    const std::vector<float> unit = unit_rows({w_.data(), classes_, width_, width_}, &lengths);
    cosines_.resize(samples.size() * std::size_t(classes_));
    const MatrixView<const float> batch{batch_.data(), rows, width_, width_};
    const MatrixView<float> cosines{cosines_.data(), rows, classes_, classes_};
    cpu::multiply(1.0f, plain(batch), turned({unit.data(), classes_, width_, width_}), 0.0f,
                  cosines);
    const float sigma_gradient = to_score_gradients(samples);
    // d loss / d unit vectors, then through the normalisation.
    cpu::multiply(sigma_, turned(cosines), plain(batch), 0.0f,
                  {gradient_.data(), classes_, width_, width_});
    const auto decay = float(settings_.weight_decay), rate = float(settings_.learning_rate),
               momentum = float(settings_.momentum);
    for (int k = 0; k < classes_; ++k) {
      const std::size_t row = std::size_t(k) * std::size_t(width_);
      const float along = cblas_sdot(width_, gradient_.data() + row, 1, unit.data() + row, 1);
      const float shrink = lengths[std::size_t(k)] > 0 ? 1 / lengths[std::size_t(k)] : 0.0f;
      for (std::size_t i = row; i < row + std::size_t(width_); ++i) {
        const float slope = (gradient_[i] - along * unit[i]) * shrink + decay * w_[i];
        speed_[i] = momentum * speed_[i] + slope;
        w_[i] -= rate * speed_[i];
      }
    }
    sigma_speed_ = momentum * sigma_speed_ + sigma_gradient + decay * sigma_;
    sigma_ -= rate * sigma_speed_;
  }

  // cosines_ becomes d loss / d scores of the mean cross entropy; returns d loss / d sigma.
  float to_score_gradients(std::span<const int> samples) {
    double sigma_gradient = 0;
    for (std::size_t b = 0; b < samples.size(); ++b) {
      float* row = cosines_.data() + b * std::size_t(classes_);
      const float largest = sigma_ * (sigma_ > 0 ? *std::max_element(row, row + classes_)
                                                 : *std::min_element(row, row + classes_));
      double sum = 0;
      for (int k = 0; k < classes_; ++k) sum += std::exp(double(sigma_ * row[k] - largest));
      for (int k = 0; k < classes_; ++k) {
        const double share = std::exp(double(sigma_ * row[k] - largest)) / sum;
        const double slope =
            (share - (labels_[std::size_t(samples[b])] == k ? 1.0 : 0.0)) / double(samples.size());
        sigma_gradient += slope * row[k];
        row[k] = float(slope);
      }
    }
    return float(sigma_gradient);
  }

  const ProbeSettings& settings_;
  std::span<const int> labels_;
  int width_, classes_;
  std::vector<float> x_;  // (N, L), unit rows
  NumpyRandom random_;
  std::vector<float> w_, speed_, gradient_;  // (K, L)
  std::vector<float> batch_, cosines_;
  float sigma_ = 1, sigma_speed_ = 0;
};

}  // namespace

LinearProbe LinearProbe::train(MatrixView<const float> features, std::span<const int> classes,
                               int class_count, const ProbeSettings& settings) {
  ENGRAM_CHECK(features.rows > 0 && std::size_t(features.rows) == classes.size());
  Training training(features, classes, class_count, settings);
  for (int epoch = 0; epoch < settings.epochs; ++epoch) training.epoch();
  LinearProbe probe;
  probe.features_ = features.cols;
  probe.classes_ = class_count;
  probe.directions_ = training.directions();
  probe.sigma_ = training.sigma();
  return probe;
}

void LinearProbe::score(MatrixView<const float> features, MatrixView<float> scores) const {
  ENGRAM_CHECK(features.cols == features_ && scores.cols == classes_);
  const std::vector<float> unit = unit_rows(features);
  cpu::multiply(1.0f, plain({unit.data(), features.rows, features_, features_}),
                turned({directions_.data(), classes_, features_, features_}), 0.0f, scores);
}

}  // namespace engram
