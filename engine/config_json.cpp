// A config as JSON, as states keep it (engine/config.h).
#include <limits>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/config.h"

namespace engram {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxConfigText = 64 * 1024;

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

}  // namespace engram
