#include "tools/convert/vit_check.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "engine/vit_network.h"
#include "kernels/kernels.h"
#include "platform/arena.h"
#include "platform/camera_stage.h"
#include "platform/device_staging.h"

namespace engram {

namespace {

constexpr int kJudgedPictures = 4;

// Waves of colour, for machines without the demo's photographs.
Image drawn_picture(int number) {
  Image image{.width = 320, .height = 240, .rgb = {}};
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      for (int colour = 0; colour < 3; ++colour) {
        const double across = 0.02 * (number + 1) * x, down = 0.03 * (colour + 1) * y;
        image.rgb.push_back(static_cast<std::uint8_t>(127.5 + 120 * std::sin(across + down)));
      }
    }
  }
  return image;
}

Result<std::vector<Image>> usual_pictures() {
  const auto stage = Stage::open({});
  std::vector<Image> pictures;
  for (int i = 0; i < kJudgedPictures; ++i) {
    if (stage.ok()) {
      ENGRAM_ASSIGN(Image view, stage.value().view(i % stage.value().objects(), 0));
      pictures.push_back(std::move(view));
    } else {
      pictures.push_back(drawn_picture(i));
    }
  }
  return pictures;
}

// Of what the buffers are sized by.
AdaptSettings settings_of(const AdaptParameters& adapted) {
  AdaptSettings settings;
  settings.method = adapted.method;
  settings.rank = adapted.slice("blocks.0.down.weight").rows;
  settings.prompts = adapted.slice("blocks.0.prompts").rows;
  return settings;
}

// Features (n, L) of pictures by our own forward, one picture at a time.
Status our_features(const VitModel& model, const AdaptParameters* adapted, const ModelCard& card,
                    std::span<const Image> pictures, MatrixView<float> features) {
  const DeviceHold hold;
  const AdaptSettings settings = adapted == nullptr ? AdaptSettings{} : settings_of(*adapted);
  const VitWork work = VitWork::of(model.shape, model.input_norm.has_value(),
                                   adapted == nullptr ? nullptr : &settings, 1);
  BufferList planned(nullptr);
  (void)VitBuffers(work, planned);
  ENGRAM_ASSIGN(Arena arena, Arena::create(static_cast<std::size_t>(planned.bytes())));
  BufferList taken(&arena);
  const VitBuffers buffers(work, taken);
  const Kernels& kernels = chosen_kernels();
  VitNetwork network(model, kernels, buffers, adapted == nullptr ? 0 : adapted->branch_scale);
  const auto views = adapted == nullptr ? views_of<const float>({}, model.shape.blocks, nullptr)
                                        : views_of<const float>(adapted->slices, model.shape.blocks,
                                                                adapted->values.data());
  const int area = model.shape.image * model.shape.image;
  SharedVector<float> tensor(static_cast<std::size_t>(3 * area));
  SharedVector<float> row(static_cast<std::size_t>(model.shape.features));
  for (int i = 0; i < features.rows; ++i) {
    ENGRAM_TRY(kernels.preprocess({}, {pictures[static_cast<std::size_t>(i)].view()},
                                  card.preprocess, {tensor.data(), 3, area, area}));
    ENGRAM_TRY(network.forward({tensor.data(), 1, 3 * area, 3 * area}, views, {},
                               {row.data(), 1, features.cols, features.cols}));
    std::copy(row.begin(), row.end(), features.row_range(i, 1).data);
  }
  return {};
}

}  // namespace

Result<double> vit_difference(const VitModel& model, FeatureExtractor& backbone,
                              std::span<const Image> pictures, const AdaptParameters* adapted) {
  const ModelCard& card = backbone.card();
  if (card.preprocess.crop != model.shape.image || card.features != model.shape.features) {
    return Status(
        Code::invalid_argument,
        fmt::format("{} is of {} pixels and {} features, what was read of it of {} and {}",
                    card.name, card.preprocess.crop, card.features, model.shape.image,
                    model.shape.features));
  }
  const int count = static_cast<int>(pictures.size()), width = model.shape.features;
  std::vector<float> ours(pictures.size() * static_cast<std::size_t>(width)), theirs(ours.size());
  ENGRAM_TRY(backbone.extract(pictures, {theirs.data(), count, width, width}));
  ENGRAM_TRY(our_features(model, adapted, card, pictures, {ours.data(), count, width, width}));
  double most = 0;
  for (int i = 0; i < count; ++i) {
    double apart = 0, length = 0;
    for (int l = 0; l < width; ++l) {
      const auto at = static_cast<std::size_t>(i * width + l);
      apart += std::pow(double(ours[at]) - double(theirs[at]), 2);
      length += std::pow(double(theirs[at]), 2);
    }
    // NaN must not pass.
    const double ratio = std::sqrt(apart / length);
    most = ratio <= most ? most : ratio;
  }
  return most;
}

Status check_vit(const VitModel& model, FeatureExtractor& backbone,
                 std::span<const Image> pictures) {
  std::vector<Image> views;
  if (pictures.empty()) {
    ENGRAM_ASSIGN(views, usual_pictures());
    pictures = views;
  }
  ENGRAM_ASSIGN(const double most, vit_difference(model, backbone, pictures));
  if (most <= kMostVitDifference) return {};
  return Status(Code::not_supported,
                fmt::format("{}: it was read as a plain Vision Transformer, but its features are "
                            "others (off by {:.2g}, at most {:.0e} is rounding), so Phase 1 cannot "
                            "train it. It still works frozen, as it is",
                            backbone.card().name, most, kMostVitDifference));
}

}  // namespace engram
