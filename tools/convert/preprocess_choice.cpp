#include "tools/convert/preprocess_choice.h"

#include <cmath>

#include <fmt/format.h>

namespace engram {

namespace {

constexpr std::array<float, 3> all(float value) {
  return {value, value, value};
}

// The tensor that takes the picture: the one of rank 4, or the only one.
const OnnxTensorInfo* picture_input(const OnnxSummary& summary) {
  const OnnxTensorInfo* found = nullptr;
  for (const OnnxTensorInfo& input : summary.inputs) {
    if (input.shape.size() != 4) continue;
    if (found) return nullptr;
    found = &input;
  }
  return found;
}

}  // namespace

// Numbers in byte units: 255 times those of the frameworks. All bicubic: what a preset gives must not
// change, and whose filter is another is told.
const std::vector<PreprocessPreset>& preprocess_presets() {
  static const std::vector<PreprocessPreset> kPresets{
      {.name = "imagenet",
       .meaning =
           "ResNet, ConvNeXt, DINO, DeiT: shorter side 256, crop 224, ImageNet mean and std; "
           "torchvision's ResNet: also --filter bilinear",
       .spec = {.resize = 256,
                .crop = 224,
                .mean = {123.675f, 116.28f, 103.53f},
                .std = {58.395f, 57.12f, 57.375f}}},
      {.name = "clip",
       .meaning = "CLIP and its kin: shorter side 224, crop 224, CLIP's mean and std",
       .spec = {.resize = 224,
                .crop = 224,
                .mean = {122.7709383f, 116.7460125f, 104.0937362f},
                .std = {68.5005327f, 66.6321579f, 70.3231630f}}},
      {.name = "half",
       .meaning =
           "ViT of Google, SigLIP, Inception: squashed to 224, values from -1 to 1; Google's ViT "
           "of Hugging Face: also --filter bilinear",
       .spec = {.resize = 224,
                .crop = 224,
                .mode = Resize::squash,
                .mean = all(127.5f),
                .std = all(127.5f)}},
      {.name = "unit",
       .meaning = "values from 0 to 1 and nothing else: shorter side 256, crop 224",
       .spec = {.resize = 256, .crop = 224, .mean = all(0), .std = all(255)}},
      {.name = "lite",
       .meaning = "EfficientNet-Lite: shorter side 256, crop 224, (p - 127) / 128",
       .spec = {.resize = 256, .crop = 224, .mean = all(127), .std = all(128)}},
  };
  return kPresets;
}

bool chooses_preprocess(const AddModelRequest& request) {
  return !request.preset.empty() || request.resize || request.crop || request.mode ||
         request.filter || request.order || request.mean || request.std;
}

Result<PreprocessSpec> choose_preprocess(const AddModelRequest& request,
                                         const OnnxSummary& summary) {
  const std::string wanted = request.preset.empty() ? "imagenet" : request.preset;
  const PreprocessPreset* preset = nullptr;
  std::string names;
  for (const PreprocessPreset& candidate : preprocess_presets()) {
    names += std::string(names.empty() ? "" : ", ") + candidate.name;
    if (wanted == candidate.name) preset = &candidate;
  }
  if (!preset) {
    return Status(Code::invalid_argument,
                  fmt::format("no preset is called \"{}\"; there are: {}", wanted, names));
  }
  const auto wrong = [&](const std::string& what) {
    return Status(Code::bad_data, fmt::format("{}: {}", request.name_or_file, what));
  };
  const OnnxTensorInfo* input = picture_input(summary);
  if (!input) return wrong("it has no single input of the shape (N, 3, height, width)");
  const auto& shape = input->shape;
  if (shape[1] != 3 && shape[1] != -1) {
    return wrong(shape[3] == 3 ? "it takes colours last (N, height, width, 3); export it with "
                                 "colours first (N, 3, height, width)"
                               : fmt::format("its input has {} channels, not 3", shape[1]));
  }
  if (shape[2] != shape[3] && shape[2] != -1 && shape[3] != -1) {
    return wrong(
        fmt::format("its input is {} x {} pixels; only squares are supported", shape[2], shape[3]));
  }
  const std::int64_t fixed = shape[2] != -1 ? shape[2] : shape[3];
  if (request.crop && fixed != -1 && *request.crop != fixed) {
    return Status(Code::invalid_argument,
                  fmt::format("{} takes {} pixels; a crop of {} does not fit", request.name_or_file,
                              fixed, *request.crop));
  }
  if (fixed > 4096) return wrong(fmt::format("its input of {} pixels is too large", fixed));

  PreprocessSpec spec = preset->spec;
  const double ratio = static_cast<double>(spec.resize) / spec.crop;
  if (request.crop) spec.crop = *request.crop;
  if (fixed != -1) spec.crop = static_cast<int>(fixed);
  spec.resize = request.resize.value_or(static_cast<int>(std::lround(ratio * spec.crop)));
  spec.mode = request.mode.value_or(spec.mode);
  spec.filter = request.filter.value_or(spec.filter);
  spec.order = request.order.value_or(spec.order);
  spec.mean = request.mean.value_or(spec.mean);
  spec.std = request.std.value_or(spec.std);
  if (spec.crop < 1 || spec.crop > spec.resize || spec.resize > 4096) {
    return Status(Code::invalid_argument,
                  fmt::format("resize {} and crop {}: a crop is 1 to resize, a resize at most 4096",
                              spec.resize, spec.crop));
  }
  // As a card may have them (engine/model_card.cpp).
  for (const float mean : spec.mean) {
    if (!(std::abs(mean) <= 65536)) {
      return Status(Code::invalid_argument,
                    fmt::format("a mean must be -65536 to 65536, not {}", mean));
    }
  }
  for (const float deviation : spec.std) {
    if (!(deviation >= 1e-6f && deviation <= 65536)) {
      return Status(
          Code::invalid_argument,
          fmt::format("a standard deviation must be > 0 (1e-6 to 65536), not {}", deviation));
    }
  }
  return spec;
}

}  // namespace engram
