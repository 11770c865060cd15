#include "tools/learner_options.h"

#include <cstdlib>

#include <fmt/format.h>

#include "engine/lambda_range.h"

namespace engram {

Result<LearnerConfig> apply(const LearnerOptions& options, LearnerConfig config) {
  if (options.hidden) config.hidden = *options.hidden;
  if (options.arithmetic) {
    ENGRAM_ASSIGN(config.arithmetic, parse_arithmetic(*options.arithmetic));
  }
  if (options.weights) {
    ENGRAM_ASSIGN(config.weights, parse_weights(*options.weights));
  } else if (options.arithmetic && config.arithmetic == Arithmetic::floating) {
    config.weights = Weights::gaussian;
  }
  if (options.nonlinearity) {
    ENGRAM_ASSIGN(config.nonlinearity, parse_nonlinearity(*options.nonlinearity));
  }
  if (options.lambda) {
    char* end = nullptr;
    const double number = std::strtod(options.lambda->c_str(), &end);
    if (end != options.lambda->c_str() && *end == '\0') {
      if (!is_lambda(number)) {
        return Status(Code::invalid_argument,
                      fmt::format("--lambda {}: a number must be 1e-30 to 1e30.", *options.lambda));
      }
      config.lambda_rule = LambdaRule::fixed;
      config.lambda = number;
    } else {
      ENGRAM_ASSIGN(config.lambda_rule, parse_lambda_rule(*options.lambda));
    }
  }
  if (options.readout) {
    ENGRAM_ASSIGN(config.readout, parse_readout_kind(*options.readout));
  }
  if (options.seed) config.seed = *options.seed;
  if (options.keep_features) config.keep_features = *options.keep_features == "yes";
  return config;
}

Status check_agrees(const LearnerOptions& options, const LearnerConfig& existing,
                    const std::string& state) {
  ENGRAM_ASSIGN(const LearnerConfig wanted, apply(options, existing));
  const auto refuse = [&](const char* option, const std::string& asked, const std::string& has) {
    return Status(Code::invalid_argument,
                  fmt::format("--{} {}: the state {} was made with {}, and that cannot change. "
                              "Nothing was changed. Leave the option out, or name another --state.",
                              option, asked, state, has));
  };
  if (wanted.hidden != existing.hidden) {
    return refuse("hidden", fmt::to_string(wanted.hidden), fmt::to_string(existing.hidden));
  }
  if (wanted.arithmetic != existing.arithmetic) {
    return refuse("arithmetic", name(wanted.arithmetic), name(existing.arithmetic));
  }
  if (options.weights && wanted.weights != existing.weights) {
    return refuse("weights", name(wanted.weights), name(existing.weights));
  }
  if (wanted.nonlinearity != existing.nonlinearity) {
    return refuse("nonlinearity", name(wanted.nonlinearity), name(existing.nonlinearity));
  }
  if (wanted.seed != existing.seed) {
    return refuse("seed", fmt::to_string(wanted.seed), fmt::to_string(existing.seed));
  }
  if (wanted.keep_features != existing.keep_features) {
    return refuse("keep-features", *options.keep_features, existing.keep_features ? "yes" : "no");
  }
  if (wanted.readout != existing.readout) {
    return refuse("readout", name(wanted.readout), name(existing.readout));
  }
  if (wanted.lambda_rule != existing.lambda_rule || wanted.lambda != existing.lambda) {
    return refuse("lambda", *options.lambda,
                  existing.lambda_rule == LambdaRule::fixed ? fmt::to_string(existing.lambda)
                                                            : name(existing.lambda_rule));
  }
  return {};
}

}  // namespace engram
