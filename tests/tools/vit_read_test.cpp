#include "tools/convert/vit_read.h"

#include <cstdlib>
#include <sstream>

#include "platform/file.h"
#include "platform/half.h"
#include "platform/onnx_half.h"
#include "tests/support/archive_files.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/small_vit.h"
#include "tests/support/styled_vit.h"
#include "tests/support/vit_difference.h"
#include "tools/convert/onnx_writer.h"

using namespace engram;
using namespace engram::test;

namespace {

Result<VitModel> read(const std::string& file, int image = 8) {
  return read_vit(bytes_of(file), "net.onnx", "", image);
}

// Written in a style and read again, it is the same model: to the bit, unless a scale was folded.
void check_style(const VitModel& model, const VitStyle& style, double most = 0) {
  auto found = read(styled_vit(model, style));
  INFO(found.status().what());
  REQUIRE(found.ok());
  check_same_shape(found->shape, model.shape);
  CHECK(apart(*found, model) <= most);
}

Status refusal(const VitStyle& style) {
  return read(styled_vit(small_vit(small_shape(), false, false, false), style)).status();
}

}  // namespace

TEST_CASE("a Vision Transformer is read as each exporter writes it", "[tools][vit_read]") {
  const VitModel plain = small_vit(small_shape(), false, false, false);
  SECTION("linear layers") {
    using Form = VitStyle::Linear;
    for (const Form form : {Form::matmul, Form::bias_first, Form::gemm}) {
      check_style(plain, {.linear = form});
    }
  }
  SECTION("norms") {
    using Form = VitStyle::Norm;
    for (const Form form : {Form::operation, Form::pieces, Form::rsqrt}) {
      for (const float epsilon : {1e-12f, 1e-6f, 1e-5f}) {
        VitModel model = plain;
        model.shape.epsilon = epsilon;
        check_style(model, {.norm = form});
      }
    }
  }
  SECTION("curves") {
    using Form = VitStyle::Curve;
    for (const Form form : {Form::operation, Form::half_last, Form::half_first}) {
      for (const GeluKind kind : {GeluKind::erf, GeluKind::tanh, GeluKind::quick, GeluKind::relu}) {
        VitModel model = plain;
        model.shape.gelu = kind;
        check_style(model, {.curve = form});
      }
    }
  }
  SECTION("queries, keys and values") {
    using Form = VitStyle::Qkv;
    using Place = VitStyle::Scale;
    for (const Form form : {Form::gather, Form::split, Form::slice, Form::apart, Form::by_head}) {
      for (const Place place : {Place::on_both, Place::on_q, Place::on_product}) {
        check_style(plain, {.qkv = form, .scale = place});
      }
    }
    check_style(plain, {.scale = Place::other}, 1e-7);
  }
  SECTION("batches, positions, the class token, operations without effect") {
    using Batch = VitStyle::Batch;
    using Form = VitStyle::Positions;
    using Token = VitStyle::Token;
    for (const Batch batch : {Batch::open, Batch::fixed, Batch::tokens_first}) {
      for (const auto linear : {VitStyle::Linear::matmul, VitStyle::Linear::gemm}) {
        for (const Token token : {Token::gather, Token::slice, Token::before_norm}) {
          check_style(plain,
                      {.linear = linear, .batch = batch, .token = token, .identities = true});
        }
      }
    }
    VitModel model = plain;
    std::fill_n(model.positions.begin(), model.prefix.size(), 0.0f);
    check_style(model, {.positions = Form::before_join});
    check_style(model, {.positions = Form::folded});
  }
}

TEST_CASE("the members of the family are read", "[tools][vit_read]") {
  VitShape shape = small_shape();
  check_style(small_vit(shape, true, false, false), {.norm = VitStyle::Norm::pieces});  // DINOv2
  shape.prefix = 5;  // with registers
  check_style(small_vit(shape, true, false, false), {.linear = VitStyle::Linear::gemm});
  shape.prefix = 1;
  shape.features = 5;
  shape.gelu = GeluKind::quick;  // CLIP
  check_style(small_vit(shape, false, true, true),
              {.batch = VitStyle::Batch::tokens_first, .token = VitStyle::Token::before_norm});
  VitModel model = small_vit(small_shape(), false, false, false);
  for (VitBlock& block : model.blocks) block.qkv.bias.clear();
  model.patch.bias.clear();
  check_style(model, {});
}

TEST_CASE("weights in half precision are read as they are", "[tools][vit_read]") {
  VitModel model = small_vit(small_shape(), true, false, false);
  const std::string file =
      styled_vit(model, {.norm = VitStyle::Norm::pieces, .curve = VitStyle::Curve::half_last});
  auto half = onnx_to_half(bytes_of(file), "net.onnx", "");
  REQUIRE(half.ok());
  auto found = read(half->file);
  INFO(found.status().what());
  REQUIRE(found.ok());
  for (float& w : model.blocks[0].fc1.weight) w = from_half(to_half(w));
  CHECK(apart(found->blocks[0].fc1.weight, model.blocks[0].fc1.weight) == 0);
  CHECK(found->shape.gelu == GeluKind::erf);
}

TEST_CASE("what is no plain Vision Transformer is told what it is", "[tools][vit_read]") {
  const auto refused = [](const VitStyle& style, const char* why) {
    const Status status = refusal(style);
    INFO(status.what());
    CHECK(status.code() == Code::not_supported);
    CHECK(says(status, "net.onnx: Phase 1 is for plain Vision Transformers"));
    CHECK(says(status, "works frozen"));
    CHECK(says(status, why));
  };
  refused({.mean = true}, "a mean over tokens");
  refused({.bias_on_scores = true}, "a relative position bias or a mask");
  refused({.second_convolution = true}, "2 convolutions where a plain one has a single one");
  refused({.norm_after = true}, "layer norm");
  refused({.gated = true}, "neither attention nor an MLP with GELU");
  OnnxWriter cnn("cnn");
  cnn.input("image", {OnnxWriter::kBatch, 3, 8, 8});
  cnn.node("GlobalAveragePool", {"image"}, {"y"});
  cnn.output("y", {OnnxWriter::kBatch, 3, 1, 1});
  CHECK(says(read(cnn.finish()).status(), "no attention: a convolutional network"));
}

TEST_CASE("another size of picture or output is told", "[tools][vit_read]") {
  const std::string file = styled_vit(small_vit(small_shape(), false, false, false), {});
  CHECK(says(read(file, 16).status(), "its input is 0 x 3 x 8 x 8, not 1 x 3 x 16 x 16"));
  CHECK(says(read_vit(bytes_of(file), "net.onnx", "nowhere", 8).status(), "no operation makes"));
  const Status inner = read_vit(bytes_of(file), "net.onnx", "t20", 8).status();
  CHECK_FALSE(inner.ok());
  CHECK(read(file.substr(0, file.size() / 2)).status().code() == Code::bad_data);
}

TEST_CASE("a graph that would keep us busy for hours is refused at once", "[tools][vit_read]") {
  OnnxWriter net("busy");
  const std::int64_t times[] = {1, 1, 256, 512}, flat[] = {-1}, one[] = {1}, none[] = {0},
                     most[] = {INT64_MAX};
  net.input("image", {1, 3, 8, 8});
  net.whole_numbers("times", {4}, times);
  net.whole_numbers("flat", {1}, flat);
  net.whole_numbers("one", {1}, one);
  net.whole_numbers("none", {1}, none);
  net.whole_numbers("most", {1}, most);
  net.node("Tile", {"image", "times"}, {"large"});
  net.node("Reshape", {"large", "flat"}, {"x0"});
  for (int i = 0; i < 5000; ++i) {
    net.node("Slice", {"x" + std::to_string(i), "one", "most", "none"},
             {"x" + std::to_string(i + 1)});
  }
  net.node("Softmax", {"x5000"}, {"y"});
  net.output("y", {OnnxWriter::kBatch});
  CHECK(says(read(net.finish()).status(), "it computes more from constants and shapes"));
}

// ENGRAM_BACKBONES, as for tools/test: "name=file name=file".
TEST_CASE("real encoders are read or told what they are", "[tools][vit_read]") {
  const char* backbones = std::getenv("ENGRAM_BACKBONES");
  int known = 0;
  std::istringstream list(backbones ? backbones : "");
  for (std::string one; list >> one;) {
    const std::string path = one.substr(one.find('=') + 1);
    auto file = MappedFile::open(path);
    REQUIRE(file.ok());
    auto found = read_vit(file->bytes(), path, "", 224);
    INFO(found.status().what());
    if (says(path, "dinov2_vits14")) {
      ++known;
      REQUIRE(found.ok());
      check_same_shape(found->shape, {.image = 224,
                                      .patch = 14,
                                      .width = 384,
                                      .heads = 6,
                                      .blocks = 12,
                                      .hidden = 1536,
                                      .prefix = 1,
                                      .features = 384,
                                      .epsilon = 1e-6f,
                                      .gelu = GeluKind::erf});
      CHECK(found->blocks[11].scale2.size() == 384);
    }
    if (says(path, "tiny_vit")) {
      ++known;
      CHECK(says(found.status(), "27 convolutions where a plain one has a single one"));
    }
  }
  if (known == 0) WARN("SKIPPED: ENGRAM_BACKBONES names neither dinov2_vits14 nor tiny_vit");
}
