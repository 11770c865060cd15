// As much of JSON Schema as openapi.json uses: a request after it, and whether an answer keeps to it.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace engram::test {

// Each property with its example; those without one are left out.
inline nlohmann::json example_of(const nlohmann::json& schema) {
  nlohmann::json value = nlohmann::json::object();
  for (const auto& item : schema.at("properties").items()) {
    if (item.value().contains("example")) value[item.key()] = item.value().at("example");
  }
  return value;
}

inline bool has_type(const nlohmann::json& value, const std::string& type) {
  return type == "object"    ? value.is_object()
         : type == "array"   ? value.is_array()
         : type == "string"  ? value.is_string()
         : type == "boolean" ? value.is_boolean()
         : type == "integer" ? value.is_number_integer()
                             : type == "number" && value.is_number();
}

// "", or where and how the value leaves the schema.
inline std::string schema_offence(const nlohmann::json& schema, const nlohmann::json& value,
                                  const nlohmann::json& document, const std::string& at = "$") {
  if (schema.contains("$ref")) {
    const std::string to = schema.at("$ref").get<std::string>().substr(1);
    return schema_offence(document.at(nlohmann::json::json_pointer(to)), value, document, at);
  }
  if (schema.contains("type") && !has_type(value, schema.at("type"))) {
    return at + " is no " + schema.at("type").get<std::string>();
  }
  if (schema.contains("enum")) {
    const auto& allowed = schema.at("enum");
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) return at + " is odd";
  }
  for (const auto& name : schema.value("required", nlohmann::json::array())) {
    if (!value.contains(name.get<std::string>())) return at + " has no " + name.dump();
  }
  if (value.is_object() && schema.contains("properties")) {
    for (const auto& item : value.items()) {
      const std::string inside = at + "." + item.key();
      const auto known = schema.at("properties").find(item.key());
      if (known == schema.at("properties").end()) return inside + " is not documented";
      const std::string offence = schema_offence(*known, item.value(), document, inside);
      if (!offence.empty()) return offence;
    }
  }
  if (value.is_array() && schema.contains("items")) {
    for (const auto& item : value) {
      const std::string offence = schema_offence(schema.at("items"), item, document, at + "[]");
      if (!offence.empty()) return offence;
    }
  }
  return "";
}

}  // namespace engram::test
