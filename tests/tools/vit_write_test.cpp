#include "tools/convert/vit_write.h"

#include "tests/support/archive_files.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/small_vit.h"
#include "tests/support/vit_difference.h"
#include "tools/convert/onnx_check.h"
#include "tools/convert/vit_read.h"

using namespace engram;
using namespace engram::test;

namespace {

AdaptParameters some_parameters(const VitShape& shape, AdaptMethod method) {
  AdaptParameters parameters =
      AdaptParameters::start(shape, {.method = method, .rank = 3, .prompts = 2}, 0);
  // The start leaves some at zero: none shall be.
  for (std::size_t i = 0; i < parameters.values.size(); ++i) {
    parameters.values[i] += 0.01f * static_cast<float>(i % 7) - 0.02f;
  }
  return parameters;
}

Result<VitModel> read_again(const std::string& file, int image) {
  return read_vit(bytes_of(file), "written", kVitFeatures, image);
}

}  // namespace

TEST_CASE("a written Vision Transformer is read again to the bit", "[tools][vit_write]") {
  for (const GeluKind kind : {GeluKind::erf, GeluKind::tanh, GeluKind::quick, GeluKind::relu}) {
    for (const bool more : {false, true}) {  // LayerScale, ln_pre, a projection, registers
      VitShape shape = small_shape();
      shape.gelu = kind;
      shape.prefix = more ? 3 : 1;
      shape.features = more ? 5 : shape.width;
      const VitModel model = small_vit(shape, more, more, more);
      const std::string file = vit_onnx(model, nullptr);
      CHECK(check_onnx(bytes_of(file), "written").ok());
      auto found = read_again(file, shape.image);
      INFO(found.status().what());
      REQUIRE(found.ok());
      check_same_shape(found->shape, shape);
      CHECK(apart(*found, model) == 0);
    }
  }
}

TEST_CASE("scales and shifts are folded into the weights", "[tools][vit_write]") {
  const VitModel model = small_vit(small_shape(), true, false, false);
  const AdaptParameters ssf = some_parameters(model.shape, AdaptMethod::ssf);
  const VitModel folded = fold_ssf(model, ssf);
  const double moved = apart(folded, model);
  CHECK(moved > 0.001);
  CHECK(moved < 1);  // infinite, or of another shape, is no folding
  // By the definition, on one row of each kind.
  const auto scale = ssf.slice("blocks.1.qkv.scale"), shift = ssf.slice("blocks.1.qkv.shift");
  const VitLinear &before = model.blocks[1].qkv, &after = folded.blocks[1].qkv;
  CHECK(after.weight[5 * 8 + 2] == scale.data[5] * before.weight[5 * 8 + 2]);
  CHECK(after.bias[5] == scale.data[5] * before.bias[5] + shift.data[5]);
  const auto norm = ssf.slice("norm.scale"), norm_shift = ssf.slice("norm.shift");
  CHECK(folded.norm.weight[3] == norm.data[3] * model.norm.weight[3]);
  CHECK(folded.norm.bias[3] == norm.data[3] * model.norm.bias[3] + norm_shift.data[3]);
  auto found = read_again(vit_onnx(model, &ssf), model.shape.image);
  REQUIRE(found.ok());
  CHECK(apart(*found, folded) == 0);
}

TEST_CASE("a bias that the plain model lacks comes with the shift", "[tools][vit_write]") {
  VitModel model = small_vit(small_shape(), false, false, false);
  model.blocks[0].qkv.bias.clear();
  const AdaptParameters ssf = some_parameters(model.shape, AdaptMethod::ssf);
  const auto shift = ssf.slice("blocks.0.qkv.shift");
  const VitModel folded = fold_ssf(model, ssf);
  REQUIRE(folded.blocks[0].qkv.bias.size() == 24);
  CHECK(folded.blocks[0].qkv.bias[7] == shift.data[7]);
}

TEST_CASE("adapters and prompts are no plain model any more", "[tools][vit_write]") {
  const VitModel model = small_vit(small_shape(), false, false, false);
  for (const AdaptMethod method : {AdaptMethod::adaptformer, AdaptMethod::vpt}) {
    const AdaptParameters parameters = some_parameters(model.shape, method);
    const std::string file = vit_onnx(model, &parameters);
    CHECK(check_onnx(bytes_of(file), "written").ok());
    CHECK(read_again(file, model.shape.image).status().code() == Code::not_supported);
  }
}
