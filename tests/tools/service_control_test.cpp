// What is asked of systemd. It cannot run where the tests run, so its programs are scripts that write
// down what they were asked: this shows our part, not systemd's.
#include "tools/service/service_control.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

// systemctl and journalctl first in PATH.
class FakeSystemd {
 public:
  FakeSystemd() {
    const char* path = std::getenv("PATH");
    path_ = path != nullptr ? path : "";
    ::setenv("PATH", (folder_.path() + ":" + path_).c_str(), 1);
    answer("systemctl", "");
    answer("systemd-sysusers", "");
    answer("journalctl", "echo '<6>looking at the camera'\necho '<3>error: no model'\n");
  }
  ~FakeSystemd() { ::setenv("PATH", path_.c_str(), 1); }

  void answer(const std::string& program, const std::string& script) {
    const std::string file = folder_ / program;
    std::ofstream(file) << "#!/bin/sh\necho " << program << " \"$@\" >> " << folder_.path()
                        << "/calls\n"
                        << script;
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  std::string calls() const {
    std::ostringstream text;
    text << std::ifstream(folder_ / "calls").rdbuf();
    return text.str();
  }

 private:
  test::TempDirectory folder_;
  std::string path_;
};

}  // namespace

TEST_CASE("service_control: enabled and started, or started again", "[tools][service][child]") {
  const FakeSystemd systemd;
  const bool again = GENERATE(false, true);
  REQUIRE(start_service(again).ok());
  REQUIRE(systemd.calls() == std::string("systemd-sysusers --inline g video - - g render - -\n"
                                         "systemctl daemon-reload\n"
                                         "systemctl enable engram.service\n"
                                         "systemctl reset-failed engram.service\n"
                                         "systemctl ") +
                                 (again ? "restart" : "start") + " engram.service\n");
}

TEST_CASE("service_control: groups are made in an image too, and a failure stops nobody",
          "[tools][service][child]") {
  FakeSystemd systemd;
  systemd.answer("systemd-sysusers", "exit 1\n");
  make_device_groups("/image");
  REQUIRE(systemd.calls() == "systemd-sysusers --root=/image --inline g video - - g render - -\n");
  REQUIRE(start_service(false).ok());
}

TEST_CASE("service_control: a start that fails ends with the journal", "[tools][service][child]") {
  FakeSystemd systemd;
  systemd.answer("systemctl",
                 "[ \"$1\" != start ] || { echo Job for engram.service failed. >&2; exit 1; }\n");
  const Status status = start_service(false);
  REQUIRE(status.code() == Code::internal);
  REQUIRE(test::says(status, "Job for engram.service failed."));
  REQUIRE(test::says(status, "\n  <3>error: no model\n"));
  REQUIRE(test::says(status, "systemctl restart engram"));
}

TEST_CASE("service_control: without systemctl, and when it is killed", "[tools][service][child]") {
  FakeSystemd systemd;
  systemd.answer("systemctl", "kill -9 $$\n");
  REQUIRE(systemctl({"daemon-reload"}).code() == Code::internal);
  systemd.answer("systemctl", "exit 127\n");
  REQUIRE(systemctl({"daemon-reload"}).code() == Code::not_supported);
}

TEST_CASE("service_control: the state as systemctl shows it", "[tools][service][child]") {
  FakeSystemd systemd;
  systemd.answer("systemctl",
                 "cat <<E\nLoadState=loaded\nActiveState=active\nSubState=running\n"
                 "StatusText=live = 15 fps\nMainPID=17\nNRestarts=2\nMemoryCurrent=[not set]\n"
                 "UnitFileState=enabled\nResult=success\nE\n");
  const Result<ServiceState> state = service_state();
  REQUIRE(state.ok());
  REQUIRE(state.value().runs());
  REQUIRE(state.value().enabled == "enabled");
  REQUIRE(state.value().status == "live = 15 fps");
  REQUIRE(state.value().pid == 17);
  REQUIRE(state.value().restarts == 2);
  REQUIRE(state.value().memory == -1);
  REQUIRE(parse_service_state("MemoryCurrent=1000\nnonsense\n").memory == 1000);
  REQUIRE_FALSE(parse_service_state("").runs());
}

TEST_CASE("service_control: the last lines of the journal", "[tools][service][child]") {
  FakeSystemd systemd;
  REQUIRE(last_journal_lines(2) ==
          std::vector<std::string>{"<6>looking at the camera", "<3>error: no model"});
  REQUIRE(test::says(systemd.calls(), "--unit engram.service --lines 2"));
  systemd.answer("journalctl", "exit 1\n");
  REQUIRE(last_journal_lines(2).empty());
}

}  // namespace engram
