#include "engine/config.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

using test::exact_config;
using test::float_config;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("config: sensible ones are valid", "[engine][config]") {
  CHECK(validate(exact_config(1280, 2000)).ok());
  CHECK(validate(exact_config(1, 100)).ok());
  CHECK(validate(exact_config(65536, 20000)).ok());
  CHECK(validate(float_config(768, 10000)).ok());
  CHECK(validate(float_config(768, 0)).ok());
}

TEST_CASE("config: each wrong field is named", "[engine][config]") {
  struct Wrong {
    const char* field;
    std::function<void(LearnerConfig&)> spoil;
  };
  const Wrong wrongs[] = {
      {"features", [](LearnerConfig& c) { c.features = 0; }},
      {"features", [](LearnerConfig& c) { c.features = 65537; }},
      {"hidden", [](LearnerConfig& c) { c.hidden = 0; }},
      {"hidden", [](LearnerConfig& c) { c.hidden = 99; }},
      {"hidden", [](LearnerConfig& c) { c.hidden = 20001; }},
      {"hidden", [](LearnerConfig& c) { c.hidden = -5; }},
      {"weights", [](LearnerConfig& c) { c.weights = Weights::gaussian; }},
      {"nonlinearity", [](LearnerConfig& c) { c.nonlinearity = Nonlinearity::square; }},
      {"feature_scale", [](LearnerConfig& c) { c.feature_scale = 0; }},
      {"feature_scale",
       [](LearnerConfig& c) { c.feature_scale = std::numeric_limits<float>::quiet_NaN(); }},
      {"feature_scale", [](LearnerConfig& c) { c.feature_scale = 1e-39f; }},  // subnormal
      {"feature_scale",  // also where it is not used: JSON could not hold it
       [](LearnerConfig& c) {
         c.arithmetic = Arithmetic::floating;
         c.feature_scale = std::numeric_limits<float>::infinity();
       }},
      {"backbone", [](LearnerConfig& c) { c.backbone = std::string(257, 'a'); }},
      {"backbone", [](LearnerConfig& c) { c.backbone = "\xff"; }},
      {"hidden_mul", [](LearnerConfig& c) { c.hidden_mul = 0; }},
      {"hidden_mul", [](LearnerConfig& c) { c.hidden_mul = 65537; }},
      {"hidden_max", [](LearnerConfig& c) { c.hidden_max = 256; }},
      {"lambda", [](LearnerConfig& c) { c.lambda = 0; }},
      {"lambda", [](LearnerConfig& c) { c.lambda = 0.99e-30; }},
      {"lambda", [](LearnerConfig& c) { c.lambda = 1.01e30; }},
      {"lambda", [](LearnerConfig& c) { c.lambda = std::nan(""); }},
      {"readout", [](LearnerConfig& c) { c.readout = ReadoutKind::lda; }},
  };
  for (const Wrong& wrong : wrongs) {
    LearnerConfig config = exact_config(1280, 2000);
    wrong.spoil(config);
    const Status status = validate(config);
    CAPTURE(wrong.field, status.what());
    CHECK(status.code() == Code::invalid_argument);
    CHECK(std::string(status.what()).find(wrong.field) != std::string::npos);
  }
}

TEST_CASE("config: JSON and back", "[engine][config]") {
  LearnerConfig config = float_config(768, 10000);
  config.backbone = "0123abcd";
  config.seed = 0xfedcba9876543210;
  config.split_seed = 77;
  config.feature_scale = 45.254834f;
  config.lambda = 1.0 / 3.0;
  config.lambda_rule = LambdaRule::code;
  config.nonlinearity = Nonlinearity::square;
  config.keep_features = GENERATE(true, false);
  config.readout = ReadoutKind::mean;
  const Result<LearnerConfig> back = parse_config(to_json(config));
  REQUIRE(back.ok());
  CHECK(back.value() == config);
}

TEST_CASE("config: an older text keeps no features", "[engine][config]") {
  const LearnerConfig config = exact_config(1280, 2000);
  REQUIRE(config.keep_features);
  const Result<LearnerConfig> older = parse_config(identity_json(config));
  REQUIRE(older.ok());
  CHECK_FALSE(older->keep_features);
  CHECK(older->readout == ReadoutKind::blend);
  CHECK_FALSE(parse_config(replaced(to_json(config), "\"blend\"", "\"best\"")).ok());
  CHECK_FALSE(
      parse_config(replaced(to_json(config), "\"keep_features\": true", "\"keep_features\": 1"))
          .ok());
}

TEST_CASE("config: JSON that is not one is refused", "[engine][config]") {
  const std::string good = to_json(exact_config(1280, 2000));
  REQUIRE(parse_config(good).ok());
  const std::string bad[] = {
      "",
      "[]",
      "{}",
      "nonsense",
      good.substr(0, good.size() / 2),
      replaced(good, "\"hidden\"", "\"hiden\""),
      replaced(good, "{", "{\"colour\": 1,"),
      replaced(good, "\"features\": 1280", "\"features\": \"1280\""),
      replaced(good, "\"features\": 1280", "\"features\": 1280.5"),
      replaced(good, "\"features\": 1280", "\"features\": 99999999999"),
      replaced(good, "\"features\": 1280", "\"features\": 18446744073709551615"),
      replaced(good, "\"seed\": 1", "\"seed\": -1"),
      replaced(good, "\"exact\"", "\"precise\""),
      replaced(good, "\"exact\"", "3"),
      std::string(100000, '['),
      "\"" + std::string(70000, 'x') + "\"",
  };
  for (const std::string& text : bad) {
    CAPTURE(text.substr(0, 60));
    CHECK_FALSE(parse_config(text).ok());
  }
}

TEST_CASE("config: names and back", "[engine][config]") {
  CHECK(parse_arithmetic("exact").value() == Arithmetic::exact);
  CHECK(parse_arithmetic("float").value() == Arithmetic::floating);
  CHECK(parse_weights("gaussian").value() == Weights::gaussian);
  CHECK(parse_nonlinearity("none").value() == Nonlinearity::none);
  CHECK(parse_lambda_rule("code").value() == LambdaRule::code);
  CHECK(parse_lambda_rule("loo").value() == LambdaRule::loo);
  CHECK(parse_lambda_rule("gcv").value() == LambdaRule::gcv);
  const Result<LambdaRule> wrong = parse_lambda_rule("best");
  REQUIRE_FALSE(wrong.ok());
  CHECK(std::string(wrong.status().what()).find("fixed, paper, code, loo, gcv") !=
        std::string::npos);
}

}  // namespace engram
