// As much of JSON Schema as openapi.json uses: a request after it, and whether an answer keeps to it.
#pragma once

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

namespace engram::test {

// The schema itself, also where it is only named.
inline const nlohmann::json& resolved(const nlohmann::json& schema,
                                      const nlohmann::json& document) {
  if (!schema.contains("$ref")) return schema;
  const std::string to = schema.at("$ref").get<std::string>().substr(1);
  return document.at(nlohmann::json::json_pointer(to));
}

// Each property with its example; those without one are left out.
inline nlohmann::json example_of(const nlohmann::json& schema, const nlohmann::json& document) {
  nlohmann::json value = nlohmann::json::object();
  for (const auto& item : schema.at("properties").items()) {
    const nlohmann::json& property = resolved(item.value(), document);
    if (property.contains("example")) value[item.key()] = property.at("example");
  }
  return value;
}

inline bool has_type(const nlohmann::json& value, const nlohmann::json& type) {
  if (type.is_array()) {
    return std::any_of(type.begin(), type.end(),
                       [&](const auto& one) { return has_type(value, one); });
  }
  return type == "object"    ? value.is_object()
         : type == "array"   ? value.is_array()
         : type == "string"  ? value.is_string()
         : type == "boolean" ? value.is_boolean()
         : type == "null"    ? value.is_null()
         : type == "integer" ? value.is_number_integer()
                             : type == "number" && value.is_number();
}

inline bool is_within(const nlohmann::json& schema, const nlohmann::json& value) {
  if (value.is_array()) {
    return value.size() >= schema.value("minItems", std::size_t(0)) &&
           value.size() <= schema.value("maxItems", value.size());
  }
  return !value.is_number() ||
         (value >= schema.value("minimum", value) && value <= schema.value("maximum", value));
}

// "", or where and how the value leaves the schema.
inline std::string schema_offence(const nlohmann::json& schema, const nlohmann::json& value,
                                  const nlohmann::json& document, const std::string& at = "$") {
  if (schema.contains("$ref")) {
    return schema_offence(resolved(schema, document), value, document, at);
  }
  if (schema.contains("type") && !has_type(value, schema.at("type"))) {
    return at + " is no " + schema.at("type").dump();
  }
  if (!is_within(schema, value)) return at + " is out of bounds";
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
  if (value.is_array() && schema.contains("prefixItems")) {
    for (std::size_t i = 0; i < std::min(value.size(), schema.at("prefixItems").size()); ++i) {
      const std::string offence =
          schema_offence(schema.at("prefixItems")[i], value[i], document, at + "[]");
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
