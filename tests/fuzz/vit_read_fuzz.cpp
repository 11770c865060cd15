// Vision Transformers from ONNX: what passed the first look, and what did not.
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/small_vit.h"
#include "tests/support/styled_vit.h"
#include "tools/convert/vit_read.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto model = engram::read_vit(std::as_bytes(std::span(data, size)), "input", "", 8);
  if (!model.ok()) return 0;
  const engram::VitShape& shape = model.value().shape;
  ENGRAM_CHECK(shape.heads > 0 && shape.width % shape.heads == 0);
  ENGRAM_CHECK(std::ssize(model.value().positions) == shape.tokens() * shape.width);
  for (const engram::VitBlock& block : model.value().blocks) {
    ENGRAM_CHECK(std::ssize(block.qkv.weight) == 3 * shape.width * shape.width);
    ENGRAM_CHECK(std::ssize(block.fc2.weight) == shape.width * shape.hidden);
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  using namespace engram::test;
  const engram::VitModel plain = small_vit(small_shape(), false, false, false);
  const engram::VitModel scaled = small_vit(small_shape(), true, true, true);
  return {styled_vit(plain, {}),
          styled_vit(plain, {.linear = VitStyle::Linear::gemm,
                             .norm = VitStyle::Norm::pieces,
                             .curve = VitStyle::Curve::half_last,
                             .qkv = VitStyle::Qkv::split}),
          styled_vit(scaled, {.qkv = VitStyle::Qkv::slice,
                              .batch = VitStyle::Batch::tokens_first,
                              .token = VitStyle::Token::before_norm})};
}
