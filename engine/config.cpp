#include "engine/config.h"

#include <cmath>

#include <fmt/format.h>

#include "engine/backbone_limits.h"
#include "engine/lambda_range.h"
#include "platform/backbone.h"

namespace engram {
namespace {

Status refuse(const char* field, const std::string& value, const char* allowed) {
  return Status(Code::invalid_argument,
                fmt::format("Learner config: {} is {}; it must be {}.", field, value, allowed));
}

}  // namespace

Status validate(const LearnerConfig& config) {
  const bool exact = config.arithmetic == Arithmetic::exact;
  if (!is_backbone_name(config.backbone)) {
    return refuse("backbone", fmt::format("a name of {} bytes", config.backbone.size()),
                  "at most 256 characters of printable ASCII (a backbone's sha256)");
  }
  if (config.features < 1 || config.features > kMaxFeatures) {
    return refuse("features", fmt::to_string(config.features), "1 to 65536");
  }
  if (config.hidden == 0) {
    if (exact) return refuse("hidden", "0 (no projection)", "100 to 20000 in exact arithmetic");
    if (config.features > kMaxHidden) {
      return refuse("features", fmt::to_string(config.features),
                    "at most 20000 without a projection");
    }
  } else if (config.hidden < kMinHidden || config.hidden > kMaxHidden) {
    return refuse("hidden", fmt::to_string(config.hidden),
                  "100 to 20000, or 0 for no projection (float arithmetic only)");
  }
  if (exact) {
    if (config.weights != Weights::bipolar) {
      return refuse("weights", name(config.weights), "bipolar in exact arithmetic");
    }
    if (config.nonlinearity != Nonlinearity::relu) {
      return refuse("nonlinearity", name(config.nonlinearity), "relu in exact arithmetic");
    }
    if (config.hidden_mul < 1 || config.hidden_mul > 65536) {
      return refuse("hidden_mul", fmt::to_string(config.hidden_mul),
                    "1 to 65536 (it comes from the backbone's card)");
    }
    if (config.hidden_max < 1 || config.hidden_max > 255) {
      return refuse("hidden_max", fmt::to_string(config.hidden_max), "1 to 255");
    }
  }
  if (!is_feature_scale(config.feature_scale)) {
    return refuse("feature_scale", fmt::to_string(config.feature_scale),
                  "1e-20 to 1e20 (it comes from the backbone's card)");
  }
  if (!is_lambda(config.lambda)) {
    return refuse("lambda", fmt::to_string(config.lambda), "1e-30 to 1e30");
  }
  if (config.readout == ReadoutKind::lda || config.readout == ReadoutKind::balanced) {
    return refuse("readout", name(config.readout),
                  "blend, ridge or mean (the others answer on request: engram classify --readout)");
  }
  return {};
}

}  // namespace engram
