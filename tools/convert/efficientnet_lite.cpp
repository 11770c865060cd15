#include "tools/convert/efficientnet_lite.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tools/convert/efficientnet_lite_names.h"
#include "tools/convert/onnx_writer.h"

namespace engram {

namespace {

struct Scaling {
  double width;
  double depth;
  int size;
};
constexpr Scaling kScaling[kLiteVariants] = {
    {1.0, 1.0, 224}, {1.0, 1.1, 240}, {1.1, 1.2, 260}, {1.2, 1.4, 280}, {1.4, 1.8, 300}};

struct LiteStage {
  int repeats, kernel, stride, expansion, channels;
};
constexpr LiteStage kStages[] = {{1, 3, 1, 1, 16}, {2, 3, 2, 6, 24},  {2, 5, 2, 6, 40},
                                 {3, 3, 2, 6, 80}, {3, 5, 1, 6, 112}, {4, 5, 2, 6, 192},
                                 {1, 3, 1, 6, 320}};
constexpr int kStageCount = static_cast<int>(std::size(kStages));
constexpr int kStem = 32;
constexpr int kHead = kLiteFeatureCount;
constexpr int kClasses = 1000;
constexpr double kEpsilon = 1e-3;

// Scaled width, to the nearest multiple of 8 but never more than a tenth below.
int scaled_channels(int channels, double width) {
  const double exact = channels * width;
  int rounded = std::max(8, static_cast<int>(exact + 4) / 8 * 8);
  if (rounded < 0.9 * exact) rounded += 8;
  return rounded;
}

int scaled_repeats(int stage, double depth) {
  const int repeats = kStages[stage].repeats;
  if (stage == 0 || stage == kStageCount - 1) return repeats;
  return static_cast<int>(std::ceil(repeats * depth));
}

// "Same" padding of a square input: ceil(size / stride) out, what is missing split, the odd pixel
// at the end.
std::vector<std::int64_t> same_padding(int size, int kernel, int stride) {
  const int out = (size + stride - 1) / stride;
  const int total = std::max((out - 1) * stride + kernel - size, 0);
  const int before = total / 2;
  return {before, before, total - before, total - before};
}

class Builder {
 public:
  Builder(const Checkpoint& checkpoint, LiteNames names, const std::string& name, int size)
      : checkpoint_(checkpoint),
        names_(std::move(names)),
        name_(name),
        size_(size),
        onnx_("efficientnet-lite") {
    onnx_.input("image", {OnnxWriter::kBatch, 3, size, size});
    const float zero = 0, six = 6;
    onnx_.weights("zero", {}, {&zero, 1});
    onnx_.weights("six", {}, {&six, 1});
  }

  struct Convolution {
    std::string weight, norm;  // our names: "X.weight"; "Y.weight", "Y.bias"...
    int in, out, kernel, stride;
    bool depthwise, clip;
  };
  Status convolution(const Convolution& how);
  Status block(int index, const LiteStage& stage, int in, int out, int stride);
  Status head();
  std::string finish() { return onnx_.finish(); }

 private:
  Result<const std::vector<float>*> weight(const std::string& ours,
                                           const std::vector<std::int64_t>& shape) const;

  std::string name_in_file(const std::string& key) const;

  const Checkpoint& checkpoint_;
  LiteNames names_;
  const std::string& name_;
  int size_;  // of the picture at this depth
  std::string last_ = "image";
  OnnxWriter onnx_;
};

std::string Builder::name_in_file(const std::string& key) const {
  const auto dot = key.rfind('.');
  const auto theirs = names_.find(key.substr(0, dot));
  return theirs == names_.end() ? key : theirs->second + key.substr(dot);
}

Result<const std::vector<float>*> Builder::weight(const std::string& ours,
                                                  const std::vector<std::int64_t>& shape) const {
  const std::string key = name_in_file(ours);
  const auto found = checkpoint_.find(key);
  if (found == checkpoint_.end()) {
    return Status(Code::bad_data,
                  fmt::format("{}: weight {} is missing: is it a checkpoint of this "
                              "EfficientNet-Lite?",
                              name_, key));
  }
  if (found->second.shape != shape) {
    return Status(Code::bad_data, fmt::format("{}: weight {} has the shape ({}), not ({}): is it a "
                                              "checkpoint of this EfficientNet-Lite?",
                                              name_, key, fmt::join(found->second.shape, ", "),
                                              fmt::join(shape, ", ")));
  }
  for (const float value : found->second.values) {
    if (!std::isfinite(value)) {
      return Status(Code::bad_data, fmt::format("{}: weight {} is not finite", name_, key));
    }
  }
  return &found->second.values;
}

Status Builder::convolution(const Convolution& how) {
  const std::int64_t per_group = how.depthwise ? 1 : how.in;
  const std::vector<std::int64_t> shape{how.out, per_group, how.kernel, how.kernel};
  const std::vector<std::int64_t> each{how.out};
  ENGRAM_ASSIGN(const auto* kernel, weight(how.weight + ".weight", shape));
  ENGRAM_ASSIGN(const auto* gain, weight(how.norm + ".weight", each));
  ENGRAM_ASSIGN(const auto* shift, weight(how.norm + ".bias", each));
  ENGRAM_ASSIGN(const auto* mean, weight(how.norm + ".running_mean", each));
  ENGRAM_ASSIGN(const auto* variance, weight(how.norm + ".running_var", each));

  std::vector<float> folded(kernel->size());
  std::vector<float> bias(static_cast<std::size_t>(how.out));
  const std::size_t taps = kernel->size() / bias.size();
  for (std::size_t c = 0; c < bias.size(); ++c) {
    if ((*variance)[c] < 0) {
      return Status(Code::bad_data, fmt::format("{}: weight {} is negative", name_,
                                                name_in_file(how.norm + ".running_var")));
    }
    const double scale = (*gain)[c] / std::sqrt((*variance)[c] + kEpsilon);
    // Volatile: a fused multiply-add, which some machines would use, gives other bits.
    volatile const double moved = (*mean)[c] * scale;
    bias[c] = static_cast<float>((*shift)[c] - moved);
    for (std::size_t t = 0; t < taps; ++t) {
      folded[c * taps + t] = static_cast<float>((*kernel)[c * taps + t] * scale);
    }
  }
  onnx_.weights(how.weight + ".weight", shape, folded);
  onnx_.weights(how.weight + ".bias", each, bias);
  const std::string sum = how.clip ? how.weight + ".sum" : how.weight;
  onnx_.node("Conv", {last_, how.weight + ".weight", how.weight + ".bias"}, {sum},
             {{"group", std::int64_t{how.depthwise ? how.out : 1}},
              {"kernel_shape", std::vector<std::int64_t>{how.kernel, how.kernel}},
              {"pads", same_padding(size_, how.kernel, how.stride)},
              {"strides", std::vector<std::int64_t>{how.stride, how.stride}}});
  if (how.clip) onnx_.node("Clip", {sum, "zero", "six"}, {how.weight});
  size_ = (size_ + how.stride - 1) / how.stride;
  last_ = how.weight;
  return {};
}

Status Builder::block(int index, const LiteStage& stage, int in, int out, int stride) {
  const std::string name = fmt::format("_blocks.{}.", index);
  const std::string input = last_;
  const int wide = in * stage.expansion;
  if (stage.expansion != 1) {
    ENGRAM_TRY(convolution({name + "_expand_conv", name + "_bn0", in, wide, 1, 1, false, true}));
  }
  ENGRAM_TRY(convolution(
      {name + "_depthwise_conv", name + "_bn1", wide, wide, stage.kernel, stride, true, true}));
  ENGRAM_TRY(convolution({name + "_project_conv", name + "_bn2", wide, out, 1, 1, false, false}));
  if (stride == 1 && in == out) {
    onnx_.node("Add", {last_, input}, {name + "skip"});
    last_ = name + "skip";
  }
  return {};
}

Status Builder::head() {
  onnx_.node("GlobalAveragePool", {last_}, {"pooled"});
  onnx_.node("Flatten", {"pooled"}, {kLiteFeatures}, {{"axis", std::int64_t{1}}});
  const std::vector<std::int64_t> shape{kClasses, kHead};
  ENGRAM_ASSIGN(const auto* matrix, weight("_fc.weight", shape));
  ENGRAM_ASSIGN(const auto* bias, weight("_fc.bias", {kClasses}));
  onnx_.weights("_fc.weight", shape, *matrix);
  onnx_.weights("_fc.bias", {kClasses}, *bias);
  onnx_.node("Gemm", {kLiteFeatures, "_fc.weight", "_fc.bias"}, {kLiteLogits},
             {{"transB", std::int64_t{1}}});
  onnx_.output(kLiteFeatures, {OnnxWriter::kBatch, kHead});
  onnx_.output(kLiteLogits, {OnnxWriter::kBatch, kClasses});
  return {};
}

}  // namespace

int lite_size(int variant) {
  ENGRAM_CHECK(variant >= 0 && variant < kLiteVariants);
  return kScaling[variant].size;
}

PreprocessSpec lite_preprocess(int variant) {
  return {.resize = lite_size(variant) + 32,
          .crop = lite_size(variant),
          .mode = Resize::shorter_side,
          .order = ChannelOrder::rgb,
          .mean = {127, 127, 127},
          .std = {128, 128, 128}};
}

Result<std::string> efficientnet_lite_onnx(int variant, const Checkpoint& checkpoint,
                                           const std::string& checkpoint_name) {
  ENGRAM_CHECK(variant >= 0 && variant < kLiteVariants);
  const Scaling& scaling = kScaling[variant];
  std::array<int, kStageCount> repeats{};
  for (int s = 0; s < kStageCount; ++s) repeats[std::size_t(s)] = scaled_repeats(s, scaling.depth);
  ENGRAM_ASSIGN(LiteNames names, lite_names(checkpoint, repeats, checkpoint_name));
  Builder builder(checkpoint, std::move(names), checkpoint_name, scaling.size);
  ENGRAM_TRY(builder.convolution({"_conv_stem", "_bn0", 3, kStem, 3, 2, false, true}));
  int in = kStem, index = 0;
  for (int s = 0; s < kStageCount; ++s) {
    const int out = scaled_channels(kStages[s].channels, scaling.width);
    for (int r = 0; r < repeats[std::size_t(s)]; ++r) {
      ENGRAM_TRY(builder.block(index++, kStages[s], in, out, r == 0 ? kStages[s].stride : 1));
      in = out;
    }
  }
  ENGRAM_TRY(builder.convolution({"_conv_head", "_bn1", in, kHead, 1, 1, false, true}));
  ENGRAM_TRY(builder.head());
  return builder.finish();
}

}  // namespace engram
