#include "engine/feature_extractor.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "platform/threads.h"

namespace engram {

FeatureExtractor::FeatureExtractor(ModelCard card, std::unique_ptr<Backbone> backbone,
                                   const Kernels& kernels)
    : card_(std::move(card)), backbone_(std::move(backbone)), kernels_(&kernels) {
  tensors_.resize(static_cast<std::size_t>(backbone_->max_batch()) * backbone_->input_values());
}

Result<FeatureExtractor> FeatureExtractor::open(const StoredModel& model, Options options,
                                                const Kernels& kernels) {
  ENGRAM_ASSIGN(auto backbone, open_backbone_openvino({.model = model.onnx,
                                                       .output = model.card.output,
                                                       .height = model.card.preprocess.crop,
                                                       .width = model.card.preprocess.crop,
                                                       .threads = options.threads,
                                                       .batch = options.batch}));
  if (backbone->features() != model.card.features) {
    return Status(
        Code::bad_data,
        fmt::format("{} gives {} features, its card says {}. Add it again with: engram "
                    "model add --replace {}",
                    model.onnx, backbone->features(), model.card.features, model.card.name));
  }
  return FeatureExtractor(model.card, std::move(backbone), kernels);
}

Status FeatureExtractor::extract(std::span<const Image> pictures, MatrixView<float> features) {
  ENGRAM_CHECK(features.rows == static_cast<int>(pictures.size()) &&
               features.cols == backbone_->features());
  const int values = backbone_->input_values();
  const int crop = card_.preprocess.crop;
  for (int first = 0; first < features.rows; first += backbone_->max_batch()) {
    const int count = std::min(backbone_->max_batch(), features.rows - first);
    std::mutex guard;
    Status failed;
    parallel_for(count, 1, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        float* tensor = tensors_.data() + static_cast<std::size_t>(i) * values;
        const Status done =
            kernels_->preprocess({}, pictures[static_cast<std::size_t>(first + i)].view(),
                                 card_.preprocess, {tensor, 3, crop * crop, crop * crop});
        if (done.ok()) continue;
        const std::lock_guard<std::mutex> hold(guard);
        failed = done;
      }
    });
    ENGRAM_TRY(failed);
    ENGRAM_TRY(
        backbone_->run({tensors_.data(), count, values, values}, features.row_range(first, count)));
  }
  return {};
}

}  // namespace engram
