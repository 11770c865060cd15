// What is asked of systemd, by its own program systemctl.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/status.h"

namespace engram {

// not_supported: systemd does not run here.
Status can_ask_about_services();
// not_supported: it does not run here, or who asks is not root.
Status can_control_services();

// Runs systemctl with these words. not_supported: there is no systemctl. internal: it failed; the
// sentence is its own.
Status systemctl(const std::vector<std::string>& words);

struct ServiceState {
  std::string load;     // loaded, not-found, bad-setting, ...
  std::string enabled;  // enabled, disabled, ...; empty: unknown
  std::string active;   // active, activating, inactive, failed, ...
  std::string sub;      // running, auto-restart, ...
  std::string result;   // success, exit-code, watchdog, oom-kill, ...
  std::string status;   // what the service says of itself
  std::int64_t pid = 0;
  std::int64_t restarts = 0;
  std::int64_t memory = -1;  // bytes; -1: not told
  bool runs() const { return active == "active" || active == "reloading"; }
};
Result<ServiceState> service_state();
ServiceState parse_service_state(const std::string& properties);  // of `systemctl show`

// Makes the groups of cameras and GPUs that the unit names and that a small system may lack (render
// comes with udev). Where that fails, starting the service says so. `root`: of an image; empty: here.
void make_device_groups(const std::string& root);

// Lets systemd read the unit, enables and starts it, and waits until the service says that it is ready.
// `again`: also if it runs already. Otherwise the sentence ends with what the service wrote last.
Status start_service(bool again);

// The last lines that the service wrote to the journal; none where there is no journal to read.
std::vector<std::string> last_journal_lines(int count);

// Each line as printable() has it, indented below what came before.
std::string indented_lines(const std::vector<std::string>& lines);
std::vector<std::string> lines_of(const std::string& text);

}  // namespace engram
