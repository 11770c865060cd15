#include "platform/camera_uri.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

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

// Letters to change, add, leave out, or swap with their neighbour.
std::size_t slips_between(const std::string& from, const std::string& to) {
  std::vector<std::vector<std::size_t>> slips(from.size() + 1,
                                              std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        slips[i][j] = i + j;
        continue;
      }
      const bool same = from[i - 1] == to[j - 1];
      slips[i][j] = std::min(
          {slips[i - 1][j - 1] + (same ? 0 : 1), slips[i - 1][j] + 1, slips[i][j - 1] + 1});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        slips[i][j] = std::min(slips[i][j], slips[i - 2][j - 2] + 1);
      }
    }
  }
  return slips[from.size()][to.size()];
}

}  // namespace

Result<CameraUri> parse_camera_uri(const std::string& uri) {
  const std::size_t colon = uri.find("://");
  if (colon == std::string::npos || colon == 0) {
    return Status(Code::invalid_argument,
                  fmt::format("camera \"{}\": not an address like stage://?objects=12",
                              mistyped_address(uri)));
  }
  const std::size_t question = std::min(uri.find('?', colon), uri.size());
  CameraUri parsed;
  parsed.scheme = uri.substr(0, colon);
  parsed.path = decoded(uri.substr(colon + 3, question - colon - 3));
  if (parsed.path.find('\0') != std::string::npos) {
    return Status(Code::invalid_argument,
                  fmt::format("camera \"{}\": has %00 in its path", mistyped_address(uri)));
  }
  std::size_t at = question + 1;
  while (at < uri.size()) {
    const std::size_t end = std::min(uri.find('&', at), uri.size());
    const std::string pair = uri.substr(at, end - at);
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {  // perhaps a password with ? in it
      return Status(Code::invalid_argument,
                    fmt::format("camera \"{}\": \"{}\" is not key=value", mistyped_address(uri),
                                pair.substr(pair.rfind('@') + 1)));
    }
    const bool is_new =
        parsed.parameters.emplace(pair.substr(0, equals), decoded(pair.substr(equals + 1))).second;
    if (!is_new) {
      return Status(Code::invalid_argument,
                    fmt::format("camera \"{}\": {} is given twice", mistyped_address(uri),
                                pair.substr(0, equals)));
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

std::string CameraUri::take_path() {
  return std::exchange(path, {});
}

Status CameraUri::nothing_else(const char* understood) const {
  if (path.empty() && parameters.empty()) return {};
  return {Code::invalid_argument,
          fmt::format("camera {}://: \"{}\" is not understood. It takes {}", scheme,
                      path.empty() ? parameters.begin()->first : path, understood)};
}

std::string without_password(const std::string& uri) {
  const std::size_t host = uri.find("://");
  if (host == std::string::npos) return uri;
  const std::size_t end = std::min(uri.find_first_of("/?", host + 3), uri.size());
  const std::size_t at = uri.substr(0, end).rfind('@');
  if (at == std::string::npos || at < host + 3) return uri;
  return uri.substr(0, host + 3) + uri.substr(at + 1);
}

std::string mistyped_address(const std::string& uri) {
  const std::size_t at = uri.rfind('@');
  if (at == std::string::npos || uri.find_first_of(":%", 0) > at) return uri;
  const std::size_t scheme = uri.find("://");
  const bool has_scheme = scheme < at;
  return (has_scheme ? uri.substr(0, scheme + 3) : "") + "..." + uri.substr(at);
}

std::string nearest_scheme(const std::string& scheme) {
  constexpr std::size_t kLongest = 16;  // nobody mistypes that much; and the work stays small
  if (scheme.size() < 2 || scheme.size() > kLongest) return {};
  for (const char* known : {"v4l2", "csi", "rtsp", "file", "stage", "test"}) {
    if (slips_between(scheme, known) == 1) return known;
  }
  return {};
}

}  // namespace engram
