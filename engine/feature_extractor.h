// Pictures to features: preprocess and backbone, as the model's card says.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/model_store.h"
#include "kernels/kernels.h"
#include "platform/backbone.h"
#include "platform/image.h"
#include "platform/status.h"

namespace engram {

class FeatureExtractor {
 public:
  struct Options {
    int threads = 0;  // of the backbone; 0: one per core
    int batch = 16;   // pictures per inference; 1 for latency
  };
  static Result<FeatureExtractor> open(const StoredModel& model, Options options,
                                       const Kernels& kernels = chosen_kernels());
  // With a backbone of the caller's; it must give what the card says.
  static Result<FeatureExtractor> create(ModelCard card, std::unique_ptr<Backbone> backbone,
                                         const Kernels& kernels = chosen_kernels());

  const ModelCard& card() const { return card_; }
  int features() const { return backbone_->features(); }
  // Pictures to (pictures.size(), L), written in full.
  Status extract(std::span<const Image> pictures, MatrixView<float> features);

 private:
  FeatureExtractor(ModelCard card, std::unique_ptr<Backbone> backbone, const Kernels& kernels);

  ModelCard card_;
  std::unique_ptr<Backbone> backbone_;
  const Kernels* kernels_;
  std::vector<float> tensors_;  // one batch of inputs
};

}  // namespace engram
