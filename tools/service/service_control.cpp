#include "tools/service/service_control.h"

#include <charconv>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "platform/child_process.h"
#include "tools/console/terminal.h"
#include "tools/service/service_files.h"

namespace engram {

namespace {

constexpr int kPatience = 120;  // seconds; the unit itself gives up a start after 60

std::int64_t number_or(const std::string& text, std::int64_t otherwise) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : otherwise;
}

Result<std::string> ask_systemctl(const std::vector<std::string>& words) {
  ChildRequest request{.arguments = {"systemctl"}, .seconds = kPatience, .with_errors = true};
  request.arguments.insert(request.arguments.end(), words.begin(), words.end());
  ENGRAM_ASSIGN(const ChildOutcome outcome, run_child(request));
  if (outcome.exit_code == 127) {
    return Status(Code::not_supported,
                  "there is no systemctl here, so there are no services. Run it yourself: engram "
                  "camera --config /etc/engram/camera.conf");
  }
  if (outcome.timed_out || outcome.signal != 0 || outcome.exit_code != 0) {
    const std::vector<std::string> said = lines_of(outcome.output);
    const std::string why = outcome.timed_out ? fmt::format("no answer in {} s", kPatience)
                            : said.empty()    ? fmt::format("exit code {}", outcome.exit_code)
                                              : printable(said.front());
    return Status(Code::internal,
                  fmt::format("systemctl {} failed: {}", fmt::join(words, " "), why));
  }
  return outcome.output;
}

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string indented_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "\n  " + printable(line);
  return text;
}

Status can_ask_about_services() {
  struct stat folder {};
  // What sd_booted(3) looks at.
  if (::lstat("/run/systemd/system", &folder) != 0 || !S_ISDIR(folder.st_mode)) {
    return Status(Code::not_supported,
                  "systemd does not run here (a container?), so there are no services. Run it "
                  "yourself: engram camera --config /etc/engram/camera.conf");
  }
  return Status();
}

Status can_control_services() {
  ENGRAM_TRY(can_ask_about_services());
  if (::geteuid() != 0) {
    return Status(Code::not_supported,
                  "services are changed by root only. Nothing was changed; try it with sudo.");
  }
  return Status();
}

Status systemctl(const std::vector<std::string>& words) {
  return ask_systemctl(words).status();
}

ServiceState parse_service_state(const std::string& properties) {
  ServiceState state;
  for (const std::string& line : lines_of(properties)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = line.substr(0, equals);
    const std::string value = line.substr(equals + 1);
    if (key == "LoadState") state.load = value;
    if (key == "UnitFileState") state.enabled = value;
    if (key == "ActiveState") state.active = value;
    if (key == "SubState") state.sub = value;
    if (key == "Result") state.result = value;
    if (key == "StatusText") state.status = value;
    if (key == "MainPID") state.pid = number_or(value, 0);
    if (key == "NRestarts") state.restarts = number_or(value, 0);
    if (key == "MemoryCurrent") state.memory = number_or(value, -1);
  }
  return state;
}

Result<ServiceState> service_state() {
  ENGRAM_ASSIGN(
      const std::string properties,
      ask_systemctl({"show", kServiceUnit,
                     "--property=LoadState,UnitFileState,ActiveState,SubState,Result,StatusText,"
                     "MainPID,NRestarts,MemoryCurrent"}));
  return parse_service_state(properties);
}

void make_device_groups(const std::string& root) {
  ChildRequest request{.arguments = {"systemd-sysusers"}, .seconds = 30, .with_errors = true};
  if (!root.empty()) request.arguments.push_back("--root=" + root);
  for (const char* word : {"--inline", "g video - -", "g render - -"}) {
    request.arguments.push_back(word);
  }
  (void)run_child(request);
}

Status start_service(bool again) {
  make_device_groups("");
  ENGRAM_TRY(systemctl({"daemon-reload"}));
  ENGRAM_TRY(systemctl({"enable", kServiceUnit}));
  // Somebody wants it now: earlier starts do not count against it (StartLimitBurst).
  (void)systemctl({"reset-failed", kServiceUnit});
  // The unit is of Type=notify: this comes back when the service is ready, or has failed.
  const Status started = systemctl({again ? "restart" : "start", kServiceUnit});
  if (started.ok()) return Status();
  std::string text = fmt::format("{} did not get ready: {}.", kServiceUnit, started.what());
  const std::vector<std::string> lines = last_journal_lines(10);
  if (!lines.empty()) text += "\nWhat it wrote last:" + indented_lines(lines);
  text += "\nIt stays enabled. When that is mended: systemctl restart engram";
  return Status(started.code(), text);
}

std::vector<std::string> last_journal_lines(int count) {
  const Result<ChildOutcome> outcome =
      run_child({.arguments = {"journalctl", "--unit", kServiceUnit, "--lines",
                               std::to_string(count), "--no-pager", "--quiet", "--output", "cat"},
                 .seconds = 10});
  if (!outcome.ok() || outcome.value().exit_code != 0) return {};
  return lines_of(outcome.value().output);
}

}  // namespace engram
