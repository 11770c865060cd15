#include "tools/convert/vit_check.h"

#include <cmath>

#include "platform/backbone.h"
#include "platform/file.h"
#include "tests/support/archive_files.h"
#include "tests/support/catch.h"
#include "tests/support/picture_files.h"
#include "tests/support/says.h"
#include "tests/support/small_vit.h"
#include "tests/support/styled_vit.h"
#include "tests/support/temp_directory.h"
#include "tests/support/vit_reference.h"
#include "tools/convert/vit_read.h"
#include "tools/convert/vit_write.h"

using namespace engram;
using namespace engram::test;

namespace {

StoredModel stored(const TempDirectory& folder, const VitModel& model, const std::string& onnx) {
  const std::string path = folder / "model.onnx";
  REQUIRE(replace_file(path, bytes_of(onnx)).ok());
  StoredModel result;
  result.onnx = path;
  result.card.name = "small";
  result.card.output = kVitFeatures;
  result.card.features = model.shape.features;
  result.card.preprocess = {.resize = model.shape.image,
                            .crop = model.shape.image,
                            .mode = Resize::squash,
                            .order = ChannelOrder::rgb,
                            .mean = {127, 127, 127},
                            .std = {64, 64, 64}};
  return result;
}

}  // namespace

TEST_CASE("what was read from a graph gives the graph's features", "[tools][vit_check][openvino]") {
  const TempDirectory folder;
  const std::vector<Image> pictures{gradient_picture(30, 20), gradient_picture(9, 31)};
  for (const VitKind kind : {VitKind::plain, VitKind::layer_scale, VitKind::clip}) {
    const VitModel model = small_vit(kind);
    const StoredModel there = stored(folder, model,
                                     styled_vit(model, {.norm = VitStyle::Norm::pieces,
                                                        .curve = VitStyle::Curve::half_last,
                                                        .qkv = VitStyle::Qkv::by_head,
                                                        .scale = VitStyle::Scale::on_product,
                                                        .batch = VitStyle::Batch::tokens_first}));
    auto file = MappedFile::open(there.onnx);
    REQUIRE(file.ok());
    auto found = read_vit(file->bytes(), "small", "", model.shape.image);
    INFO(found.status().what());
    REQUIRE(found.ok());
    auto backbone = FeatureExtractor::open(there, {.threads = 1, .batch = 1});
    REQUIRE(backbone.ok());
    const auto apart = vit_difference(*found, *backbone, pictures);
    INFO(apart.status().what());
    REQUIRE(apart.ok());
    CHECK(apart.value() < 1e-5);
    CHECK(check_vit(*found, *backbone, pictures).ok());
    CHECK(check_vit(*found, *backbone).ok());
    // One weight that is not the graph's.
    found->blocks[1].proj.weight[3] += 0.5f;
    const Status wrong = check_vit(*found, *backbone, pictures);
    CHECK(wrong.code() == Code::not_supported);
    CHECK(says(wrong, "its features are others"));
    found->shape.image = 16;
    CHECK(says(check_vit(*found, *backbone, pictures), "of 8 pixels"));
  }
}

TEST_CASE("a written model gives the features of its definition in OpenVINO",
          "[tools][vit_write][openvino]") {
  const TempDirectory folder;
  for (const VitKind kind : {VitKind::plain, VitKind::layer_scale, VitKind::clip}) {
    const VitModel model = small_vit(kind);
    const VitShape& shape = model.shape;
    const std::vector<float> pictures = random_pictures(shape, 3);
    std::vector<double> plain;
    for (const int method : {-1, 0, 1, 2}) {  // as it is, and by each method
      AdaptSettings settings{.rank = 3, .prompts = 2};
      settings.method = static_cast<AdaptMethod>(std::max(method, 0));
      const AdaptParameters parameters = random_parameters(shape, settings, 0);
      const AdaptParameters* adapted = method < 0 ? nullptr : &parameters;
      const std::string path = folder / "written.onnx";
      REQUIRE(replace_file(path, bytes_of(vit_onnx(model, adapted))).ok());
      auto backbone = open_backbone_openvino({.model = path,
                                              .output = kVitFeatures,
                                              .height = shape.image,
                                              .width = shape.image,
                                              .threads = 1,
                                              .batch = 3});
      INFO(backbone.status().what());
      REQUIRE(backbone.ok());
      const int values = 3 * shape.image * shape.image, width = shape.features;
      std::vector<float> found(static_cast<std::size_t>(3 * width));
      REQUIRE((*backbone)
                  ->run({pictures.data(), 3, values, values}, {found.data(), 3, width, width})
                  .ok());
      const VitReference reference(model, adapted);
      double apart = 0, length = 0, moved = 0;
      std::vector<double> expected;
      for (int i = 0; i < 3; ++i) {
        for (const double f : reference.features(pictures.data() + i * values)) {
          expected.push_back(f);
        }
      }
      if (method < 0) plain = expected;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        apart += std::pow(expected[i] - double(found[i]), 2);
        length += std::pow(expected[i], 2);
        moved += std::pow(expected[i] - plain[i], 2);
      }
      CHECK(std::sqrt(apart / length) < 1e-5);
      CHECK((method < 0) == (std::sqrt(moved / length) < 1e-3));  // that it is adapted at all
    }
  }
}
