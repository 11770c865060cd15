// The reader of model cards: any text; what it accepts must survive being written and read again.
#include "engine/model_card.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto card = engram::parse_card(std::string(reinterpret_cast<const char*>(data), size));
  if (!card.ok()) return 0;
  const std::string text = engram::to_json(card.value());
  const auto again = engram::parse_card(text);
  ENGRAM_CHECK(again.ok() && engram::to_json(again.value()) == text);
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  engram::ModelCard card;
  card.name = "net";
  card.source = "a file";
  card.licence = "Apache-2.0";
  card.sha256 = std::string(64, 'a');
  card.output = "features";
  card.features = 1280;
  card.feature_scale = 45.25f;
  card.hidden_mul = 1024;
  const std::string usual = engram::to_json(card);
  card.preprocess.filter = engram::Filter::bilinear;
  return {usual, engram::to_json(card)};
}
