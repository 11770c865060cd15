#include "engine/feature_extractor.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "kernels/backend.h"
#include "platform/arena.h"
#include "platform/engine_build.h"
#include "platform/sentence.h"
#include "platform/threads.h"

namespace engram {

namespace {

Status no_memory(const std::string& model) {
  return Status(Code::out_of_memory,
                fmt::format("not enough memory to run the model {}. Nothing was learned; take "
                            "smaller batches or close other programs.",
                            model));
}

// What `work` returns, or what it threw: kernels and backbones take memory, and others' may throw
// anything.
template <class Work>
Status without_exceptions(const std::string& model, Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return no_memory(model);
  } catch (const std::length_error&) {
    return no_memory(model);
  } catch (const std::exception& error) {
    return Status(Code::internal, fmt::format("the model {} failed: {} Nothing was learned.", model,
                                              sentence(error.what())));
  } catch (...) {
    return Status(Code::internal,
                  fmt::format("the model {} failed for a reason that it does not tell. Nothing was "
                              "learned.",
                              model));
  }
}

PictureView seen(const Image& picture) {
  return {picture.view()};
}
PictureView seen(const PictureView& picture) {
  return picture;
}

// The CPU's backbone, with the GPU's before it as soon as that is ready.
std::unique_ptr<SwitchingBackbone> with_engine(const StoredModel& model,
                                               const FeatureExtractor::Options& options,
                                               std::unique_ptr<Backbone> cpu) {
  const auto prepare = [order = engine_order(model, options.home, options.library),
                        name = model.card.name, use = options.engines](
                           const std::atomic<bool>& stop,
                           const OnBuild& on_build) mutable -> Result<std::unique_ptr<Backbone>> {
    order.may_build = use == EngineUse::build;
    order.build.stop = &stop;
    order.build.on_progress = on_build;
    auto engine = supply_engine(order);
    if (engine.status().code() != Code::not_found) return engine;
    return Status(
        Code::not_found,
        fmt::format("no engine of the model {0} has been built for this GPU yet. Build it "
                    "once with: engram model engine {0}",
                    name));
  };
  auto both = std::make_unique<SwitchingBackbone>(std::move(cpu), prepare);
  if (options.engines == EngineUse::kept) both->wait();
  return both;
}

}  // namespace

EngineOrder engine_order(const StoredModel& model, const std::string& home,
                         EngineLibrary* library) {
  EngineOrder order;
  order.library = library;
  order.cache = home + "/engines";
  order.name = model.card.name;
  order.model_sha256 = model.card.sha256;
  order.request.model = model.onnx;
  order.request.output = model.card.output;
  order.request.height = order.request.width = model.card.preprocess.crop;
  const std::int64_t all = machine_memory(),
                     free = available_memory();  // a container may have less
  order.request.memory = usual_build_memory(free > 0 ? std::min(all, free) : all);
  return order;
}

FeatureExtractor::FeatureExtractor(ModelCard card, std::unique_ptr<Backbone> backbone,
                                   const Kernels& kernels)
    : card_(std::move(card)), backbone_(std::move(backbone)), kernels_(&kernels) {}

Result<FeatureExtractor> FeatureExtractor::open(const StoredModel& model, Options options,
                                                const Kernels& kernels) {
  ENGRAM_ASSIGN(auto backbone, open_backbone_openvino({.model = model.onnx,
                                                       .output = model.card.output,
                                                       .height = model.card.preprocess.crop,
                                                       .width = model.card.preprocess.crop,
                                                       .threads = options.threads,
                                                       .batch = options.batch}));
  const bool wanted = options.engines != EngineUse::none && options.library != nullptr;
  const Result<EngineDevice> device =
      wanted ? options.library->device() : Status(Code::not_supported, "no GPU is wanted");
  if (!device.ok()) return create(model.card, std::move(backbone), kernels);
  auto switching = with_engine(model, options, std::move(backbone));
  const SwitchingBackbone* const both = switching.get();
  ENGRAM_ASSIGN(FeatureExtractor extractor, create(model.card, std::move(switching), kernels));
  extractor.switching_ = both;
  extractor.device_ = fmt::format("{}, {}", device->gpu, device->library);
  return extractor;
}

EngineState FeatureExtractor::engine() const {
  if (switching_ == nullptr) return {};
  EngineState state = switching_->state();
  state.device = device_;
  return state;
}

Result<FeatureExtractor> FeatureExtractor::create(ModelCard card,
                                                  std::unique_ptr<Backbone> backbone,
                                                  const Kernels& kernels) {
  if (backbone->features() != card.features) {
    return Status(Code::bad_data,
                  fmt::format("the model {0} gives {1} features, its card says {2}. Add it again "
                              "with: engram model add --replace {0}",
                              card.name, backbone->features(), card.features));
  }
  FeatureExtractor extractor(std::move(card), std::move(backbone), kernels);
  ENGRAM_TRY(without_exceptions(extractor.card_.name, [&] {
    const auto batch = static_cast<std::size_t>(extractor.backbone_->max_batch());
    extractor.tensors_.resize(batch *
                              static_cast<std::size_t>(extractor.backbone_->input_values()));
    return Status();
  }));
  return extractor;
}

template <class Picture>
Status FeatureExtractor::preprocess(std::span<const Picture> pictures) {
  const int values = backbone_->input_values(), crop = card_.preprocess.crop;
  std::mutex guard;
  Status failed;
  parallel_for(int(pictures.size()), 1, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      float* tensor = tensors_.data() + static_cast<std::size_t>(i) * values;
      const Status done = without_exceptions(card_.name, [&] {
        return kernels_->preprocess({}, seen(pictures[static_cast<std::size_t>(i)]),
                                    card_.preprocess, {tensor, 3, crop * crop, crop * crop});
      });
      if (done.ok()) continue;
      const std::lock_guard<std::mutex> hold(guard);
      failed = done;
    }
  });
  return failed;
}

template <class Picture>
Status FeatureExtractor::extract_all(std::span<const Picture> pictures,
                                     MatrixView<float> features) {
  ENGRAM_CHECK(features.rows == static_cast<int>(pictures.size()) &&
               features.cols == backbone_->features());
  const int values = backbone_->input_values();
  for (int first = 0; first < features.rows; first += backbone_->max_batch()) {
    const int count = std::min(backbone_->max_batch(), features.rows - first);
    const auto batch = pictures.subspan(std::size_t(first), std::size_t(count));
    Status prepared = preprocess(batch);
    if (!prepared.ok() && !give_up_lost_device(prepared).ok() && kernels_ != &chosen_kernels()) {
      kernels_ = &chosen_kernels();
      ENGRAM_TRY(without_exceptions(card_.name, [&] {  // where the CPU has them
        tensors_ = SharedVector<float>(tensors_.size());
        return Status();
      }));
      prepared = preprocess(batch);
    }
    ENGRAM_TRY(prepared);
    ENGRAM_TRY(without_exceptions(card_.name, [&] {
      return backbone_->run({tensors_.data(), count, values, values},
                            features.row_range(first, count));
    }));
  }
  return {};
}

Status FeatureExtractor::extract(std::span<const Image> pictures, MatrixView<float> features) {
  return extract_all(pictures, features);
}

Status FeatureExtractor::extract(std::span<const PictureView> pictures,
                                 MatrixView<float> features) {
  return extract_all(pictures, features);
}

}  // namespace engram
