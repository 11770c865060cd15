#include "tools/service/service_report.h"

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/service/local_http.h"
#include "tools/settings_file.h"
#include "tools/web/web_address.h"

namespace engram {

namespace {

const char* fate_word(FileFate fate) {
  switch (fate) {
    case FileFate::kept:
      return "kept";
    case FileFate::written:
      return "written";
    case FileFate::edited:
      return "kept: somebody edited it";
  }
  return "";
}

std::string activity(const ServiceState& state) {
  if (state.load != "loaded")
    return "is not installed. Install it with: sudo engram service enable";
  std::string text = fmt::format("{} ({})", state.active, state.sub);
  if (!state.enabled.empty()) text += ", " + state.enabled;
  if (!state.runs() && state.result != "success") text += ", last result " + state.result;
  if (state.restarts > 0) text += ", " + plural(state.restarts, "restart", "restarts");
  return text;
}

}  // namespace

Result<ServiceSettings> read_service_settings(const ServicePlaces& places) {
  ServiceSettings found{.home = places.state(), .model = {}, .http = {}, .source = {}};
  if (::access(places.config().c_str(), F_OK) != 0) return found;
  ENGRAM_ASSIGN(const std::vector<Setting> settings, read_settings(places.config()));
  for (const Setting& setting : settings) {
    if (setting.key == "home") found.home = places.root + setting.value;
    if (setting.key == "model") found.model = setting.value;
    if (setting.key == "http") found.http = setting.value;
    if (setting.key == "source") found.source = setting.value;
  }
  return found;
}

std::string page_of(const ServiceSettings& settings) {
  if (settings.http.empty()) return "";
  const Result<WebAddress> where = parse_web_address(settings.http);
  return where.ok() ? page_urls(where.value(), "").front() : "";
}

std::string settings_note(const ServicePlaces& places, const ServiceSettings& settings) {
  if (!settings.source.empty() && !settings.source.starts_with("stage://")) return "";
  return fmt::format(
      "it looks at the virtual stage, not at a camera: name yours in {}, such as source = "
      "v4l2:///dev/video0, and then: systemctl restart engram",
      printable(places.config()));
}

ServiceHealth ask_health(const ServiceState& state, const ServiceSettings& settings) {
  const Result<WebAddress> where = parse_web_address(settings.http);
  const bool here = where.ok() && (where->address == "127.0.0.1" || where->is_everywhere());
  if (!state.runs() || !here || where->port == 0) return {};
  const Result<LocalAnswer> answer = get_from_here(where->port, "/health");
  if (!answer.ok()) return {.asked = true, .answers = false, .text = answer.status().what()};
  return {.asked = true, .answers = answer.value().status == 200, .text = answer.value().body};
}

std::string service_files_text(const ServicePlaces& places, const ServiceFiles& files) {
  return fmt::format("unit      {} ({})\nsettings  {} ({})\nstate     {}\n",
                     printable(files.unit_path), fate_word(files.unit), printable(places.config()),
                     fate_word(files.config), printable(places.state()));
}

nlohmann::ordered_json service_files_json(const ServicePlaces& places, const ServiceFiles& files) {
  return {{"unit", files.unit_path},
          {"unit_written", files.unit == FileFate::written},
          {"config", places.config()},
          {"config_written", files.config == FileFate::written},
          {"state", places.state()}};
}

std::string service_status_text(const ServicePlaces& places, const ServiceState& state,
                                const ServiceHealth& health,
                                const std::vector<std::string>& lines) {
  std::string text = fmt::format("service   {} {}\n", kServiceUnit, printable(activity(state)));
  if (!state.status.empty()) text += fmt::format("says      {}\n", printable(state.status));
  if (state.pid > 0) {
    text += fmt::format("process   {}", state.pid);
    if (state.memory >= 0) text += fmt::format(", {}", bytes_text(state.memory));
    text += "\n";
  }
  if (health.asked) {
    text +=
        fmt::format("health    {}{}\n", health.answers ? "" : "not well: ", printable(health.text));
  }
  text += fmt::format("settings  {}\nstate     {}\n", printable(places.config()),
                      printable(places.state()));
  if (!lines.empty()) text += "\n";
  for (const std::string& line : lines) text += printable(line) + "\n";
  return text;
}

nlohmann::ordered_json service_status_json(const ServicePlaces& places, const ServiceState& state,
                                           const ServiceHealth& health,
                                           const std::vector<std::string>& lines) {
  nlohmann::ordered_json object = {{"unit", kServiceUnit},
                                   {"load", state.load},
                                   {"enabled", state.enabled},
                                   {"active", state.active},
                                   {"sub", state.sub},
                                   {"result", state.result},
                                   {"running", state.runs()},
                                   {"status", state.status},
                                   {"pid", state.pid},
                                   {"restarts", state.restarts},
                                   {"config", places.config()},
                                   {"state", places.state()},
                                   {"lines", lines}};
  if (state.memory >= 0) object["memory_bytes"] = state.memory;
  if (health.asked) object["health"] = {{"ok", health.answers}, {"text", health.text}};
  return object;
}

}  // namespace engram
