#include "engine/config.h"

#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/backbone_limits.h"
#include "engine/lambda_range.h"
#include "platform/backbone.h"

namespace engram {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxConfigText = 64 * 1024;

template <class Enum>
struct Named {
  Enum value;
  const char* name;
};
constexpr std::array kArithmetics{Named<Arithmetic>{Arithmetic::exact, "exact"},
                                  Named<Arithmetic>{Arithmetic::floating, "float"}};
constexpr std::array kWeights{Named<Weights>{Weights::bipolar, "bipolar"},
                              Named<Weights>{Weights::gaussian, "gaussian"}};
constexpr std::array kNonlinearities{Named<Nonlinearity>{Nonlinearity::relu, "relu"},
                                     Named<Nonlinearity>{Nonlinearity::square, "square"},
                                     Named<Nonlinearity>{Nonlinearity::none, "none"}};
constexpr std::array kLambdaRules{
    Named<LambdaRule>{LambdaRule::fixed, "fixed"}, Named<LambdaRule>{LambdaRule::paper, "paper"},
    Named<LambdaRule>{LambdaRule::code, "code"}, Named<LambdaRule>{LambdaRule::loo, "loo"},
    Named<LambdaRule>{LambdaRule::gcv, "gcv"}};
constexpr std::array kReadoutKinds{Named<ReadoutKind>{ReadoutKind::blend, "blend"},
                                   Named<ReadoutKind>{ReadoutKind::ridge, "ridge"},
                                   Named<ReadoutKind>{ReadoutKind::mean, "mean"},
                                   Named<ReadoutKind>{ReadoutKind::lda, "lda"},
                                   Named<ReadoutKind>{ReadoutKind::balanced, "balanced"}};

template <class Table, class Enum>
const char* name_in(const Table& table, Enum value) {
  for (const auto& entry : table) {
    if (entry.value == value) return entry.name;
  }
  return "?";
}

template <class Enum, std::size_t n>
Result<Enum> parse_in(const std::array<Named<Enum>, n>& table, const char* field,
                      const std::string& text) {
  std::string known;
  for (const auto& entry : table) {
    if (text == entry.name) return entry.value;
    known += known.empty() ? entry.name : std::string(", ") + entry.name;
  }
  return Status(Code::invalid_argument,
                fmt::format("{} is \"{}\"; it can be one of: {}.", field, text, known));
}

Status refuse(const char* field, const std::string& value, const char* allowed) {
  return Status(Code::invalid_argument,
                fmt::format("Learner config: {} is {}; it must be {}.", field, value, allowed));
}

// Reads one field of the right type and range into `target`, and counts it.
class FieldReader {
 public:
  explicit FieldReader(const Json& json) : json_(json) {}

  template <class Number>
  void number(const char* field, Number& target) {
    const Json* value = find(field);
    if (value == nullptr) return;
    if constexpr (std::is_floating_point_v<Number>) {
      if (!value->is_number()) return wrong(field, "a number");
      target = value->get<Number>();
    } else if constexpr (std::is_unsigned_v<Number>) {
      if (!value->is_number_unsigned()) return wrong(field, "a whole number, not negative");
      target = value->get<Number>();
    } else {
      if (!value->is_number_integer()) return wrong(field, "a whole number");
      // An unsigned value above 2^63 would wrap when read as a signed one.
      if (value->is_number_unsigned() &&
          value->get<std::uint64_t>() > std::uint64_t(std::numeric_limits<Number>::max())) {
        return wrong(field, "within 32 bits");
      }
      const auto whole = value->get<std::int64_t>();
      if (whole < std::numeric_limits<Number>::min() ||
          whole > std::numeric_limits<Number>::max()) {
        return wrong(field, "within 32 bits");
      }
      target = Number(whole);
    }
  }
  // Absent in what older versions wrote: `absent`.
  void flag(const char* field, bool absent, bool& target) {
    target = absent;
    if (!json_.contains(field)) return;
    const Json* value = find(field);
    if (value == nullptr) return;
    if (!value->is_boolean()) return wrong(field, "true or false");
    target = value->get<bool>();
  }
  void text(const char* field, std::string& target) {
    const Json* value = find(field);
    if (value == nullptr) return;
    if (!value->is_string()) return wrong(field, "a text");
    target = value->get<std::string>();
  }
  template <class Enum>
  void choice(const char* field, Result<Enum> (*parse)(const std::string&), Enum& target) {
    std::string word;
    text(field, word);
    if (!status_.ok()) return;
    const Result<Enum> parsed = parse(word);
    if (parsed.ok()) {
      target = parsed.value();
    } else {
      status_ = parsed.status();
    }
  }
  // ok only if every field was there and no other one.
  Status finish() const {
    if (status_.ok() && read_ != json_.size()) {
      return Status(Code::bad_data,
                    "Learner config: there are fields that this version does not know. It may be "
                    "from a newer version of Engram.");
    }
    return status_;
  }

 private:
  const Json* find(const char* field) {
    if (!status_.ok()) return nullptr;
    const auto found = json_.find(field);
    if (found == json_.end()) {
      status_ = Status(Code::bad_data, fmt::format("Learner config: {} is missing.", field));
      return nullptr;
    }
    ++read_;
    return &*found;
  }
  void wrong(const char* field, const char* wanted) {
    status_ = Status(Code::bad_data, fmt::format("Learner config: {} is not {}.", field, wanted));
  }

  const Json& json_;
  Status status_;
  std::size_t read_ = 0;
};

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

namespace {

Json identity(const LearnerConfig& config) {
  Json json;  // ordered by name: the same config is the same text
  json["backbone"] = config.backbone;
  json["features"] = config.features;
  json["hidden"] = config.hidden;
  json["arithmetic"] = name(config.arithmetic);
  json["weights"] = name(config.weights);
  json["nonlinearity"] = name(config.nonlinearity);
  json["seed"] = config.seed;
  json["feature_scale"] = config.feature_scale;
  json["hidden_mul"] = config.hidden_mul;
  json["hidden_max"] = config.hidden_max;
  json["lambda_rule"] = name(config.lambda_rule);
  json["lambda"] = config.lambda;
  json["split_seed"] = config.split_seed;
  return json;
}

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const LearnerConfig& config) {
  Json json = identity(config);
  json["keep_features"] = config.keep_features;
  json["readout"] = name(config.readout);
  return text_of(json);
}

std::string identity_json(const LearnerConfig& config) {
  return text_of(identity(config));
}

Result<LearnerConfig> parse_config(const std::string& text) {
  if (text.size() > kMaxConfigText) {
    return Status(Code::bad_data, "Learner config: the text is longer than 64 KiB.");
  }
  // A depth limit by callback: a text of brackets must not exhaust the stack.
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= 4; };
  const Json json = Json::parse(text, shallow, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return Status(Code::bad_data, "Learner config: the text is not a JSON object.");
  }
  LearnerConfig config;
  FieldReader reader(json);
  reader.text("backbone", config.backbone);
  reader.number("features", config.features);
  reader.number("hidden", config.hidden);
  reader.choice("arithmetic", parse_arithmetic, config.arithmetic);
  reader.choice("weights", parse_weights, config.weights);
  reader.choice("nonlinearity", parse_nonlinearity, config.nonlinearity);
  reader.number("seed", config.seed);
  reader.number("feature_scale", config.feature_scale);
  reader.number("hidden_mul", config.hidden_mul);
  reader.number("hidden_max", config.hidden_max);
  reader.choice("lambda_rule", parse_lambda_rule, config.lambda_rule);
  reader.number("lambda", config.lambda);
  reader.number("split_seed", config.split_seed);
  reader.flag("keep_features", false, config.keep_features);
  if (json.contains("readout")) reader.choice("readout", parse_readout_kind, config.readout);
  ENGRAM_TRY(reader.finish());
  return config;
}

const char* name(Arithmetic value) {
  return name_in(kArithmetics, value);
}
const char* name(Weights value) {
  return name_in(kWeights, value);
}
const char* name(Nonlinearity value) {
  return name_in(kNonlinearities, value);
}
const char* name(LambdaRule value) {
  return name_in(kLambdaRules, value);
}
const char* name(ReadoutKind value) {
  return name_in(kReadoutKinds, value);
}

Result<Arithmetic> parse_arithmetic(const std::string& text) {
  return parse_in(kArithmetics, "arithmetic", text);
}
Result<Weights> parse_weights(const std::string& text) {
  return parse_in(kWeights, "weights", text);
}
Result<Nonlinearity> parse_nonlinearity(const std::string& text) {
  return parse_in(kNonlinearities, "nonlinearity", text);
}
Result<LambdaRule> parse_lambda_rule(const std::string& text) {
  return parse_in(kLambdaRules, "lambda rule", text);
}
Result<ReadoutKind> parse_readout_kind(const std::string& text) {
  return parse_in(kReadoutKinds, "readout", text);
}

}  // namespace engram
