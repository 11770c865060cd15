#include "tools/settings_file.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "platform/file.h"
#include "tools/console/terminal.h"

namespace engram {

namespace {

constexpr std::size_t kMostSettingsBytes = 64 * 1024;

bool is_space(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_key(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

Result<Setting> parse_line(std::string_view line, const std::string& file, int number) {
  const auto fail = [&](const std::string& what) { return setting_error(file, number, what); };
  if (std::any_of(line.begin(), line.end(),
                  [](unsigned char c) { return (c < ' ' && c != '\t') || c == 127; })) {
    return fail("a control character: this is not a text file, or it was damaged.");
  }
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) {
    return fail(fmt::format("{} is no setting. Write: key = value, or # before a comment.",
                            printable(line)));
  }
  Setting setting{.key = std::string(trimmed(line.substr(0, equals))),
                  .value = std::string(trimmed(line.substr(equals + 1))),
                  .line = number};
  if (!is_key(setting.key)) {
    return fail(fmt::format("{} is no key: these are small letters, digits and -.",
                            setting.key.empty() ? "what stands before =" : printable(setting.key)));
  }
  if (setting.value.empty()) {
    return fail(
        fmt::format("{} has no value. Put # before it to leave it at its default.", setting.key));
  }
  return setting;
}

}  // namespace

Status setting_error(const std::string& file, int line, const std::string& what) {
  return Status(Code::bad_data, fmt::format("{}:{}: {}", printable(file), line, what));
}

Result<std::vector<Setting>> parse_settings(std::string_view text, const std::string& file) {
  std::vector<Setting> settings;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);  // an editor of another system
    line = trimmed(line);
    if (line.empty() || line.front() == '#') continue;
    ENGRAM_ASSIGN(const Setting setting, parse_line(line, file, number));
    const auto earlier = std::find_if(settings.begin(), settings.end(),
                                      [&](const Setting& s) { return s.key == setting.key; });
    if (earlier != settings.end()) {
      return setting_error(file, number,
                           fmt::format("{} is set twice, first in line {}. Keep one of them.",
                                       setting.key, earlier->line));
    }
    settings.push_back(setting);
  }
  return settings;
}

Result<std::vector<Setting>> read_settings(const std::string& file) {
  ENGRAM_ASSIGN(const std::vector<std::byte> bytes, read_file(file, kMostSettingsBytes));
  return parse_settings({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file);
}

std::string truth_of(std::string_view value) {
  for (const char* yes : {"yes", "true", "on", "1"}) {
    if (value == yes) return "true";
  }
  for (const char* no : {"no", "false", "off", "0"}) {
    if (value == no) return "false";
  }
  return {};
}

}  // namespace engram
