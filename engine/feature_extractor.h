// Pictures to features: preprocess and backbone, as the model's card says.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/model_store.h"
#include "kernels/chosen_kernels.h"
#include "platform/backbone.h"
#include "platform/backbone_switching.h"
#include "platform/buffer_allocator.h"
#include "platform/engine_library.h"
#include "platform/engine_state.h"
#include "platform/engine_supply.h"
#include "platform/image.h"
#include "platform/matrix_view.h"
#include "platform/picture_view.h"
#include "platform/status.h"

namespace engram {

// Whether the GPU computes the features, where there is one and a library for it.
enum class EngineUse : std::uint8_t {
  none,  // the CPU does
  kept,  // if its engine was built before: from the first picture on, so that a run can be repeated
  build,  // built now, by a child process; the CPU answers meanwhile
};

// What is needed to have the engine of a model (platform/engine_supply.h): one for all commands,
// whatever their batches are.
EngineOrder engine_order(const StoredModel& model, const std::string& home, EngineLibrary* library);

class FeatureExtractor {
 public:
  struct Options {
    int threads = 0;  // of the backbone; 0: one per core
    int batch = 16;   // pictures per inference; 1 for latency
    EngineUse engines = EngineUse::none;
    std::string home = {};  // engines are in HOME/engines
    EngineLibrary* library = engine_library();
  };
  static Result<FeatureExtractor> open(const StoredModel& model, Options options,
                                       const Kernels& kernels = chosen_kernels());
  // With a backbone of the caller's; it must give what the card says.
  static Result<FeatureExtractor> create(ModelCard card, std::unique_ptr<Backbone> backbone,
                                         const Kernels& kernels = chosen_kernels());

  const ModelCard& card() const { return card_; }
  int features() const { return backbone_->features(); }
  // Pictures to (pictures.size(), L), written in full. If the device that prepares them is lost, the
  // CPU prepares them again, and all later ones. Views are of the CPU's memory.
  Status extract(std::span<const Image> pictures, MatrixView<float> features);
  Status extract(std::span<const PictureView> pictures, MatrixView<float> features);
  // Why the CPU answers where a GPU could; empty: it does not, or there is none.
  std::string note() const { return switching_ == nullptr ? "" : switching_->note(); }
  EngineState engine() const;  // of the GPU, as far as it has come

 private:
  FeatureExtractor(ModelCard card, std::unique_ptr<Backbone> backbone, const Kernels& kernels);
  template <class Picture>
  Status extract_all(std::span<const Picture> pictures, MatrixView<float> features);
  template <class Picture>
  Status preprocess(std::span<const Picture> pictures);  // into tensors_; a batch at most

  ModelCard card_;
  std::unique_ptr<Backbone> backbone_;
  const SwitchingBackbone* switching_ = nullptr;  // the same, where it may be the GPU's
  std::string device_;                            // that GPU, and the library
  const Kernels* kernels_;
  SharedVector<float> tensors_;  // one batch of inputs
};

}  // namespace engram
