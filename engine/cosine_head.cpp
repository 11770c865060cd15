#include "engine/cosine_head.h"

#include <algorithm>

#include "kernels/kernels.h"

namespace engram {
namespace {

MatrixView<float> first_columns(MatrixView<float> row, int count) {
  return {row.data, 1, count, count};
}

}  // namespace

HeadBuffers::HeadBuffers(int pictures, int classes, int features_count, BufferList& list)
    : unit_weight(list.take("unit class vectors", classes, features_count)),
      weight_lengths(list.take("lengths of class vectors", 1, classes)),
      dunit_weight(list.take("gradient of unit class vectors", classes, features_count)),
      features(list.take("features", pictures, features_count)),
      dfeatures(list.take("gradient of features", pictures, features_count)),
      unit_features(list.take("unit features", pictures, features_count)),
      lengths(list.take("lengths of features", 1, pictures)),
      losses(list.take("losses", 1, pictures)),
      no_sigma(list.take("a gradient that nobody wants", 1, 1)),
      cosines(list.take("cosines", pictures, classes)),
      labels(list.take<int>("classes of pictures", 1, pictures)) {}

Status CosineHead::begin_step(const AdaptViews<const float>& adapt) {
  std::fill_n(buffers_.dunit_weight.data,
              std::size_t(buffers_.dunit_weight.rows) * std::size_t(buffers_.dunit_weight.cols),
              0.0f);
  return kernels_.unit_rows(Stream{}, adapt.head_weight, buffers_.unit_weight,
                            buffers_.weight_lengths);
}

Status CosineHead::cosines(std::span<const int> labels, const AdaptViews<const float>& adapt) {
  const int count = int(labels.size());
  ENGRAM_CHECK(count <= buffers_.features.rows &&
               adapt.head_weight.rows == buffers_.unit_weight.rows);
  const MatrixView<float> unit = buffers_.unit_features.row_range(0, count);
  ENGRAM_TRY(
      kernels_.unit_rows(Stream{}, features(count), unit, first_columns(buffers_.lengths, count)));
  return kernels_.linear(Stream{}, unit, buffers_.unit_weight, {},
                         buffers_.cosines.row_range(0, count));
}

Status CosineHead::cross_entropy(std::span<const int> labels, const AdaptViews<const float>& adapt,
                                 float weight, MatrixView<float> dsigma, HeadResult& result) {
  const int count = int(labels.size());
  std::copy(labels.begin(), labels.end(), buffers_.labels.data);
  const float sigma = *adapt.head_sigma.data;
  for (int b = 0; b < count; ++b) {
    const float* row = buffers_.cosines.row(b);
    const float* best = sigma < 0 ? std::min_element(row, row + buffers_.cosines.cols)
                                  : std::max_element(row, row + buffers_.cosines.cols);
    result.right += int(best - row) == labels[std::size_t(b)] ? 1 : 0;
  }
  const MatrixView<float> some = buffers_.cosines.row_range(0, count);
  ENGRAM_TRY(kernels_.cross_entropy(Stream{}, some, adapt.head_sigma,
                                    {buffers_.labels.data, 1, count, count}, weight,
                                    first_columns(buffers_.losses, count), some, dsigma));
  for (int b = 0; b < count; ++b) result.loss += double(buffers_.losses.data[b]);
  result.count += count;
  return {};
}

Status CosineHead::loss_and_gradient(std::span<const int> labels,
                                     const AdaptViews<const float>& adapt, float weight,
                                     const AdaptViews<float>& gradients, HeadResult& result) {
  const int count = int(labels.size());
  ENGRAM_TRY(cosines(labels, adapt));
  ENGRAM_TRY(cross_entropy(labels, adapt, weight, gradients.head_sigma, result));
  const MatrixView<float> dcosines = buffers_.cosines.row_range(0, count);
  const MatrixView<float> unit = buffers_.unit_features.row_range(0, count), df = dfeatures(count);
  ENGRAM_TRY(kernels_.linear_gradient(Stream{}, dcosines, unit, buffers_.dunit_weight, {}));
  ENGRAM_TRY(kernels_.linear_back(Stream{}, dcosines, buffers_.unit_weight, /*add=*/false, df));
  return kernels_.unit_rows_back(Stream{}, df, unit, first_columns(buffers_.lengths, count), df);
}

Status CosineHead::end_step(const AdaptViews<float>& gradients) {
  return kernels_.unit_rows_back(Stream{}, buffers_.dunit_weight, buffers_.unit_weight,
                                 buffers_.weight_lengths, gradients.head_weight);
}

Status CosineHead::loss(std::span<const int> labels, const AdaptViews<const float>& adapt,
                        HeadResult& result) {
  ENGRAM_TRY(cosines(labels, adapt));
  return cross_entropy(labels, adapt, 0.0f, buffers_.no_sigma, result);
}

}  // namespace engram
