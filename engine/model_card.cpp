#include "engine/model_card.h"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/backbone_limits.h"
#include "platform/backbone.h"

namespace engram {

namespace {

using nlohmann::json;

constexpr std::size_t kMaxText = 64 * 1024;
constexpr int kFormat = 1;

// 0.229f * 255 should read 58.395 in the file, not 58.39500045776367.
double shortest(float value) {
  return std::strtod(fmt::format("{}", value).c_str(), nullptr);
}

json triple(const std::array<float, 3>& values) {
  return json::array({shortest(values[0]), shortest(values[1]), shortest(values[2])});
}

// Reads the fields of one object; remembers the first complaint, so that a parser is a plain list
// of fields.
class Fields {
 public:
  Fields(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) complain("the card is not a JSON object");
  }

  std::string text(const char* key, std::size_t longest) {
    const json* value = take(key);
    if (!value) return {};
    if (!value->is_string()) return complain(key, "must be a text"), std::string();
    auto result = value->get<std::string>();
    if (result.size() > longest) complain(key, fmt::format("is longer than {} bytes", longest));
    return result;
  }

  bool has(const char* key) const { return object_.is_object() && object_.contains(key); }

  bool truth(const char* key) {
    const json* value = take(key);
    if (value && !value->is_boolean()) complain(key, "must be true or false");
    return value && value->is_boolean() && value->get<bool>();
  }

  int whole(const char* key, std::int64_t least, std::int64_t most) {
    const json* value = take(key);
    if (!value) return 0;
    // A number beyond 2^63 is unsigned: compare before it can turn negative.
    const bool fits = value->is_number_integer() &&
                      !(value->is_number_unsigned() &&
                        value->get<std::uint64_t>() > static_cast<std::uint64_t>(most)) &&
                      value->get<std::int64_t>() >= least && value->get<std::int64_t>() <= most;
    if (!fits) return complain(key, fmt::format("must be {} to {}", least, most)), 0;
    return value->get<int>();
  }

  float real(const char* key, double least, double most) {
    const json* value = take(key);
    return value ? checked(*value, key, least, most) : 0;
  }

  std::array<float, 3> reals(const char* key, double least, double most) {
    const json* value = take(key);
    if (!value) return {};
    if (!value->is_array() || value->size() != 3) {
      return complain(key, "must be three numbers: red, green, blue"), std::array<float, 3>{};
    }
    return {checked((*value)[0], key, least, most), checked((*value)[1], key, least, most),
            checked((*value)[2], key, least, most)};
  }

  const json& object(const char* key) {
    static const json kNothing = json::object();
    const json* value = take(key);
    if (!value) return kNothing;
    if (!value->is_object()) return complain(key, "must be an object"), kNothing;
    return *value;
  }

  void complain(const std::string& what) {
    if (complaint_.empty()) complaint_ = what;
  }
  void complain(const char* key, const std::string& what) {
    complain(fmt::format("field \"{}{}\" {}", where_, key, what));
  }

  // Call last: every field that was not asked for is unknown.
  const std::string& finish() {
    if (object_.is_object() && object_.size() != taken_) {
      complain(fmt::format("it has a field that this version does not know{}",
                           where_.empty() ? "" : " in \"input\""));
    }
    return complaint_;
  }

 private:
  const json* take(const char* key) {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(key);
    if (found == object_.end()) return complain(key, "is missing"), nullptr;
    ++taken_;
    return &*found;
  }

  float checked(const json& value, const char* key, double least, double most) {
    const double number = value.is_number() ? value.get<double>() : NAN;
    if (!(number >= least && number <= most)) {
      return complain(key, fmt::format("must be {} to {}", least, most)), 0;
    }
    return static_cast<float>(number);
  }

  const json& object_;
  std::string where_;
  std::string complaint_;
  std::size_t taken_ = 0;
};

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_parent(const std::string& text) {
  const auto space = text.find(' ');
  return space != std::string::npos && is_model_name(text.substr(0, space)) &&
         is_sha256(text.substr(space + 1));
}

PreprocessSpec parse_input(const json& object, std::string& complaint) {
  Fields input(object, "input.");
  PreprocessSpec spec;
  spec.resize = input.whole("resize", 1, 4096);
  spec.crop = input.whole("crop", 1, 4096);
  const std::string mode = input.text("mode", 32);
  const std::string order = input.text("order", 32);
  spec.mode = mode == "squash" ? Resize::squash : Resize::shorter_side;
  spec.order = order == "bgr" ? ChannelOrder::bgr : ChannelOrder::rgb;
  spec.mean = input.reals("mean", -65536, 65536);
  spec.std = input.reals("std", 1e-6, 65536);
  const std::string filter = input.has("filter") ? input.text("filter", 32) : "bicubic";
  spec.filter = filter == "bilinear" ? Filter::bilinear : Filter::bicubic;
  if (spec.crop > spec.resize) input.complain("crop", "is larger than \"input.resize\"");
  if (mode != "squash" && mode != "shorter_side") {
    input.complain("mode", "must be \"shorter_side\" or \"squash\"");
  }
  if (order != "rgb" && order != "bgr") input.complain("order", "must be \"rgb\" or \"bgr\"");
  if (filter != "bicubic" && filter != "bilinear") {
    input.complain("filter", "must be \"bicubic\" or \"bilinear\"");
  }
  complaint = input.finish();
  return spec;
}

}  // namespace

bool is_model_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 && name[0] != '.' && name[0] != '-' &&
         name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
             "._-") == std::string::npos;
}

std::string to_json(const ModelCard& card) {
  const PreprocessSpec& how = card.preprocess;
  nlohmann::ordered_json text = {
      {"format", kFormat},
      {"name", card.name},
      {"source", card.source},
      {"licence", card.licence},
      {"sha256", card.sha256},
      {"input",
       {{"resize", how.resize},
        {"crop", how.crop},
        {"mode", how.mode == Resize::squash ? "squash" : "shorter_side"},
        {"order", how.order == ChannelOrder::bgr ? "bgr" : "rgb"},
        {"mean", triple(how.mean)},
        {"std", triple(how.std)}}},
      {"output", card.output},
      {"features", card.features},
      {"feature_scale", shortest(card.feature_scale)},
      {"hidden_mul", card.hidden_mul},
      {"calibration_pictures", card.calibration_pictures},
  };
  if (how.filter == Filter::bilinear) text["input"]["filter"] = "bilinear";
  if (!card.redistributable) text["redistributable"] = false;
  if (!card.parent.empty()) text["parent"] = card.parent;
  if (!card.adapted.empty()) text["adapted"] = card.adapted;
  return text.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<ModelCard> parse_card(const std::string& text) {
  if (text.size() > kMaxText) {
    return Status(Code::bad_data, fmt::format("the model card has {} bytes, more than the {} that "
                                              "any card of ours has",
                                              text.size(), kMaxText));
  }
  const json parsed = json::parse(text, nullptr, false);
  if (parsed.is_discarded()) return Status(Code::bad_data, "the model card is not JSON");
  // Format first: a newer card may have other fields, and then that is what to say.
  if (parsed.is_object() && parsed.contains("format") && parsed["format"].is_number_integer() &&
      parsed["format"] > kFormat) {
    return Status(Code::not_supported,
                  "the model card was written by a newer version of Engram: update this one");
  }
  Fields fields(parsed, "");
  ModelCard card;
  fields.whole("format", kFormat, kFormat);
  card.name = fields.text("name", 64);
  card.source = fields.text("source", 1024);
  card.licence = fields.text("licence", 256);
  card.sha256 = fields.text("sha256", 64);
  std::string complaint;
  card.preprocess = parse_input(fields.object("input"), complaint);
  card.output = fields.text("output", 1024);
  card.features = fields.whole("features", 1, kMaxFeatures);
  card.feature_scale = fields.real("feature_scale", kLeastFeatureScale, kLargestFeatureScale);
  card.hidden_mul = fields.whole("hidden_mul", 1, 65536);
  card.calibration_pictures = fields.whole("calibration_pictures", 0, 1'000'000'000);
  if (fields.has("redistributable")) card.redistributable = fields.truth("redistributable");
  if (fields.has("parent")) card.parent = fields.text("parent", 64 + 1 + 64);
  if (fields.has("adapted")) card.adapted = fields.text("adapted", 1024);
  if (!card.parent.empty() && !is_parent(card.parent)) {
    fields.complain("parent", "must be a model's name and its sha256");
  }
  if (!is_model_name(card.name)) fields.complain("name", "is not the name of a model");
  if (!is_sha256(card.sha256)) fields.complain("sha256", "must be 64 lower-case hex digits");
  if (!complaint.empty()) fields.complain(complaint);
  if (!fields.finish().empty()) {
    return Status(Code::bad_data, "the model card is wrong: " + fields.finish());
  }
  return card;
}

}  // namespace engram
