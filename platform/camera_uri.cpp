#include "platform/camera_uri.h"

#include <charconv>

#include <fmt/format.h>

namespace engram {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// %41 is A. A percent sign that two hexadecimal digits do not follow stands for itself.
std::string decoded(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                        hex_digit(text[i + 2]) >= 0;
    if (escape) {
      out += static_cast<char>(16 * hex_digit(text[i + 1]) + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

Result<CameraUri> parse_camera_uri(const std::string& uri) {
  const std::size_t colon = uri.find("://");
  if (colon == std::string::npos || colon == 0) {
    return Status(Code::invalid_argument,
                  fmt::format("camera \"{}\": not an address like stage://?objects=12", uri));
  }
  const std::size_t question = std::min(uri.find('?', colon), uri.size());
  CameraUri parsed;
  parsed.scheme = uri.substr(0, colon);
  parsed.path = decoded(uri.substr(colon + 3, question - colon - 3));
  std::size_t at = question + 1;
  while (at < uri.size()) {
    const std::size_t end = std::min(uri.find('&', at), uri.size());
    const std::string pair = uri.substr(at, end - at);
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Status(Code::invalid_argument,
                    fmt::format("camera \"{}\": \"{}\" is not key=value", uri, pair));
    }
    const bool is_new =
        parsed.parameters.emplace(pair.substr(0, equals), decoded(pair.substr(equals + 1))).second;
    if (!is_new) {
      return Status(Code::invalid_argument,
                    fmt::format("camera \"{}\": {} is given twice", uri, pair.substr(0, equals)));
    }
    at = end + 1;
  }
  return parsed;
}

Result<std::int64_t> CameraUri::take_number(const std::string& key, std::int64_t otherwise,
                                            std::int64_t low, std::int64_t high) {
  const auto node = parameters.extract(key);
  if (node.empty()) return otherwise;
  const std::string& text = node.mapped();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    return Status(Code::invalid_argument,
                  fmt::format("camera {}://: {}={} is not a whole number from {} to {}", scheme,
                              key, text, low, high));
  }
  return value;
}

std::string CameraUri::take_text(const std::string& key, const std::string& otherwise) {
  const auto node = parameters.extract(key);
  return node.empty() ? otherwise : node.mapped();
}

}  // namespace engram
