#include "tools/learner_options.h"

#include "tests/support/catch.h"
#include "tests/support/says.h"

namespace engram {

using test::says;

TEST_CASE("options change only what they name", "[tools][options]") {
  REQUIRE(apply({}, LearnerConfig{}).value() == LearnerConfig{});
  LearnerOptions options;
  options.hidden = 500;
  options.lambda = "2.5";
  options.seed = 7;
  options.keep_features = "no";
  options.readout = "mean";
  const LearnerConfig config = apply(options, LearnerConfig{}).value();
  REQUIRE(config.hidden == 500);
  REQUIRE(config.seed == 7);
  REQUIRE_FALSE(config.keep_features);
  REQUIRE(config.lambda_rule == LambdaRule::fixed);
  REQUIRE(config.lambda == 2.5);
  REQUIRE(config.readout == ReadoutKind::mean);
  REQUIRE(config.weights == LearnerConfig{}.weights);
}

TEST_CASE("float alone is the paper's float, with Gaussian weights", "[tools][options]") {
  LearnerOptions options;
  options.arithmetic = "float";
  REQUIRE(apply(options, LearnerConfig{})->weights == Weights::gaussian);
  options.weights = "bipolar";
  REQUIRE(apply(options, LearnerConfig{})->weights == Weights::bipolar);
}

TEST_CASE("words and numbers that make no sense are refused", "[tools][options]") {
  for (const char* lambda : {"0", "-1", "nan", "inf", "1e-50", "1e31", "often", "1x"}) {
    LearnerOptions options;
    options.lambda = lambda;
    REQUIRE(apply(options, LearnerConfig{}).status().code() == Code::invalid_argument);
  }
  LearnerOptions options;
  options.arithmetic = "roughly";
  REQUIRE(apply(options, LearnerConfig{}).status().code() == Code::invalid_argument);
  options = {};
  options.readout = "guess";
  REQUIRE(apply(options, LearnerConfig{}).status().code() == Code::invalid_argument);
}

TEST_CASE("a state cannot be made anew by options", "[tools][options]") {
  LearnerConfig existing;
  existing.hidden = 300;
  REQUIRE(check_agrees({}, existing, "desk").ok());
  LearnerOptions options;
  options.hidden = 300;
  REQUIRE(check_agrees(options, existing, "desk").ok());
  options.hidden = 400;
  const Status refused = check_agrees(options, existing, "desk");
  REQUIRE(refused.code() == Code::invalid_argument);
  REQUIRE(says(refused, "--hidden 400"));
  REQUIRE(says(refused, "Nothing was changed"));
  options = {};
  options.keep_features = "no";
  REQUIRE(says(check_agrees(options, existing, "desk"), "--keep-features no"));
  options = {};
  options.lambda = "paper";
  REQUIRE(check_agrees(options, existing, "desk").ok() ==
          (existing.lambda_rule == LambdaRule::paper));
  options.lambda = "3";
  REQUIRE_FALSE(check_agrees(options, existing, "desk").ok());
}

}  // namespace engram
