#include "tools/web/api_json.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "engine/label.h"
#include "tools/console/console.h"
#include "tools/live/verdict.h"

namespace engram {
namespace {

using nlohmann::json;
using Kind = JsonField::Kind;

constexpr std::uint64_t kMaxFrame = std::uint64_t(1) << 53;  // JavaScript counts no further

int http_status(Code code) {
  switch (code) {
    case Code::ok:
      return 200;
    case Code::invalid_argument:
      return 400;
    case Code::bad_data:
      return 422;
    case Code::not_found:
      return 404;
    case Code::not_supported:
      return 501;
    case Code::out_of_memory:
    case Code::io_failure:
      return 507;
    case Code::busy:
      return 503;
    case Code::device_failure:
    case Code::internal:
      break;
  }
  return 500;
}

Status refuse(const std::string& why) {
  return Status(Code::invalid_argument, why);
}

bool is_whole(const json& value, std::uint64_t least, std::uint64_t most) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() >= least &&
         value.get<std::uint64_t>() <= most;
}

Status check_region(const json& value) {
  const bool numbers =
      value.is_array() && value.size() == 4 &&
      std::all_of(value.begin(), value.end(), [](const json& v) { return is_whole(v, 0, 1000); });
  if (!numbers) {
    return refuse("\"region\" has to be [left, top, width, height], whole numbers from 0 to 1000.");
  }
  const int left = value[0], top = value[1], width = value[2], height = value[3];
  if (width < 20 || height < 20 || left + width > 1000 || top + height > 1000) {
    return refuse(
        "\"region\" has to lie in the picture, 20 to 1000 wide and high: left + width and top + "
        "height are at most 1000.");
  }
  return {};
}

Status check_field(const JsonField& field, const json& value) {
  switch (field.kind) {
    case Kind::label:
      if (!value.is_string()) return refuse(fmt::format("\"{}\" has to be text.", field.name));
      return check_label(value.get_ref<const std::string&>());
    case Kind::flag:
      if (value.is_boolean()) return {};
      return refuse(fmt::format("\"{}\" has to be true or false.", field.name));
    case Kind::count:
      if (is_whole(value, 1, 1000)) return {};
      return refuse(fmt::format("\"{}\" has to be a whole number from 1 to 1000.", field.name));
    case Kind::frame:
      if (is_whole(value, 1, kMaxFrame)) return {};
      return refuse(fmt::format("\"{}\" has to be the number of a frame.", field.name));
    case Kind::region:
      return check_region(value);
  }
  return refuse("This field is not understood.");
}

std::string names_of(const std::vector<JsonField>& fields) {
  std::string names;
  for (const auto& field : fields) {
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", field.name);
  }
  return names.empty() ? "none" : names;
}

}  // namespace

Result<json> read_fields(const std::string& body, const std::vector<JsonField>& fields) {
  if (body.size() > kMaxJsonBytes) {
    return refuse(fmt::format("The request has {} bytes; at most {} are read. Nothing was changed.",
                              body.size(), kMaxJsonBytes));
  }
  std::set<std::string> seen;
  std::string repeated;
  bool deep = false;
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::key && !seen.insert(parsed.get<std::string>()).second) {
      repeated = parsed.get<std::string>();
    }
    deep = deep || (event == json::parse_event_t::object_start && depth > 0) ||
           (event == json::parse_event_t::array_start && depth > 1);
    return true;
  };
  // No body is an object without fields.
  const json parsed = body.empty() ? json::object() : json::parse(body, watch, false);
  if (parsed.is_discarded()) return refuse("The request is not valid JSON. Nothing was changed.");
  if (deep) return refuse("The request is nested too deeply. Nothing was changed.");
  if (!parsed.is_object()) return refuse("The request has to be a JSON object.");
  if (!repeated.empty()) return refuse("A field of the request is there twice.");
  for (const auto& item : parsed.items()) {
    if (std::none_of(fields.begin(), fields.end(),
                     [&](const JsonField& field) { return item.key() == field.name; })) {
      return refuse(fmt::format("The field \"{}\" is not known here; these are: {}.",
                                item.key().substr(0, 40), names_of(fields)));
    }
  }
  for (const auto& field : fields) {
    const auto found = parsed.find(field.name);
    if (found != parsed.end()) {
      ENGRAM_TRY(check_field(field, *found));
    } else if (field.required) {
      return refuse(fmt::format("The field \"{}\" is missing.", field.name));
    }
  }
  return parsed;
}

HttpResponse json_response(const nlohmann::ordered_json& value) {
  HttpResponse response;
  response.body = json_text(value);
  response.headers["Cache-Control"] = "no-store";
  return response;
}

HttpResponse error_response(int status, const std::string& code, const std::string& sentence) {
  HttpResponse response = json_response({{"error", sentence}, {"code", code}});
  response.status = status;
  return response;
}

HttpResponse error_response(const Status& status) {
  return error_response(http_status(status.code()), name(status.code()), status.what());
}

HttpResponse order_response(const OrderResult& result) {
  if (!result.status.ok()) return error_response(result.status);
  return json_response({{"said", result.said},
                        {"skipped", result.skipped},
                        {"durable_ms", result.durable_ms},
                        {"known_ms", result.known_ms}});
}

nlohmann::ordered_json to_json(const Sight& sight) {
  nlohmann::ordered_json answers = nlohmann::ordered_json::array();
  for (const Answer& answer : sight.answers) {
    answers.push_back(
        {{"label", answer.label}, {"probability", answer.probability}, {"score", answer.score}});
  }
  const bool any = !sight.answers.empty();
  return {{"frame", sight.frame.number},
          {"revision", sight.revision},
          {"unknown", any && sight.answers[0].unknown},
          {"known", known_json(sight)},
          {"answers", answers},
          {"backbone_ms", sight.backbone_ms},
          {"head_ms", sight.head_ms}};
}

}  // namespace engram
