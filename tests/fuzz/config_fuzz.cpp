// The learner's config in its JSON form: what parses and is valid means the same when written again.
#include "engine/config.h"
#include "tests/fuzz/fuzz_target.h"

using namespace engram;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Result<LearnerConfig> config =
      parse_config(std::string(reinterpret_cast<const char*>(data), size));
  if (!config.ok() || !validate(config.value()).ok()) return 0;
  const Result<LearnerConfig> again = parse_config(to_json(config.value()));
  ENGRAM_CHECK(again.ok() && again.value() == config.value());
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  LearnerConfig config;
  config.backbone = std::string(64, '0');
  config.features = 1280;
  std::vector<std::string> seeds = {to_json(config)};
  config.hidden = 0;
  config.arithmetic = Arithmetic::floating;
  config.nonlinearity = Nonlinearity::square;
  seeds.push_back(to_json(config));
  return seeds;
}
