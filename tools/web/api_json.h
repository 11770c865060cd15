// JSON that strangers send, read strictly; and what they are answered.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "platform/status.h"
#include "tools/live/live.h"
#include "tools/web/http_server.h"

namespace engram {

inline constexpr std::size_t kMaxJsonBytes = 4096;

// A field that a request may have.
struct JsonField {
  enum class Kind {
    label,   // a name of a class (engine/label.h)
    flag,    // true or false
    count,   // a whole number from 1 to 1000
    frame,   // a whole number from 1 to 2^53
    region,  // [left, top, width, height] in 1/1000 of the picture
  };
  const char* name;
  Kind kind;
  bool required = true;
};

// The body as an object of exactly these fields, each of its kind. invalid_argument: a sentence that
// says what is wrong: no JSON, too long, too deep, unknown, missing, repeated or ill-typed fields.
Result<nlohmann::json> read_fields(const std::string& body, const std::vector<JsonField>& fields);

HttpResponse json_response(const nlohmann::ordered_json& value);
HttpResponse error_response(int status, const std::string& code, const std::string& sentence);
HttpResponse error_response(const Status& status);
HttpResponse order_response(const OrderResult& result);
nlohmann::ordered_json to_json(const Sight& sight);

}  // namespace engram
