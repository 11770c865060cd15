// What is told of a GPU that does not compute, and to whom.
#include "kernels/backend.h"

#include <string>
#include <vector>

#include "platform/device_code.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/staged_simt.h"

namespace engram {
namespace {

using test::OnSimtDevice;
using test::says;

// The CPU, on a machine whose GPU is as the trial says.
Backend chosen_on(const simt::DeviceTrial& trial) {
  const simt::OnTrial on(trial);
  return cpu_because(simt::find_device().status(), simt::has_driver());
}

struct Told {
  Told() {
    tell_gpu_trouble([this](const std::string& sentence) { sentences.push_back(sentence); });
  }
  ~Told() { tell_gpu_trouble({}); }
  std::vector<std::string> sentences;
};

}  // namespace

TEST_CASE("backend: a machine without a driver is no trouble", "[kernels][device]") {
  const Backend usual = chosen_on({.driver = 0, .devices = 0});
  CHECK(says(usual.why_cpu, "no NVIDIA driver"));
  CHECK(usual.trouble == GpuTrouble::none);
  CHECK(gpu_trouble_text(usual).empty());
  CHECK(gpu_trouble_text(find_backend(BackendChoice::cpu).value()).empty());
}

TEST_CASE("backend: a GPU that cannot be computed on is told in a line", "[kernels][device]") {
  const std::string old = gpu_trouble_text(chosen_on({.driver = 11040}));
  CHECK(says(old, "The CPU computes instead of the GPU. The NVIDIA driver is too old"));
  CHECK_FALSE(says(old, "\n"));
  CHECK(says(gpu_trouble_text(chosen_on({.devices = 0})), "no GPU that it can use"));
  const Status silent = device_absence(13000, 13000, 1, "initialization error");
  CHECK(
      says(gpu_trouble_text(cpu_because(silent, true)), "does not answer (initialization error)"));
  const Status strange = device_has_code("Thor", 11, 0, "87-real");
  REQUIRE_FALSE(strange.ok());
  CHECK(says(gpu_trouble_text(cpu_because(strange, true)), "Thor"));
}

TEST_CASE("backend: a device that is lost is told once, while it happens", "[kernels][device]") {
  const OnSimtDevice on;
  Told told;
  CHECK(give_up_lost_device(Status(Code::bad_data, "something else")).ok());
  CHECK(told.sentences.empty());
  const Status lost = device_failed("cudaStreamSynchronize", "unspecified launch failure");
  CHECK_FALSE(give_up_lost_device(lost).ok());
  CHECK_FALSE(give_up_lost_device(lost).ok());
  const std::string sentence =
      "The GPU was lost: cudaStreamSynchronize: unspecified launch failure. The CPU goes on.";
  CHECK(told.sentences == std::vector<std::string>{sentence});
  CHECK(gpu_trouble_text(backend_in_use()) == sentence);
}

TEST_CASE(
    "backend: what a device took along is repeated once, also of one that was found meanwhile",
    "[kernels][device]") {
  const Status lost = device_failed("cudaStreamSynchronize", "unspecified launch failure");
  const LostSince found_meanwhile;
  const OnSimtDevice on;
  const LostSince before;
  CHECK_FALSE(before(Status(Code::bad_data, "something else")));
  CHECK(found_meanwhile(lost));
  CHECK(before(lost));
  const LostSince after;
  CHECK_FALSE(after(lost));
}

TEST_CASE("backend: what is found when something is computed first is told then",
          "[kernels][device]") {
  Told told;
  use_any_backend();
  CHECK(told.sentences.empty());
  const Backend found = backend_in_use();
  CHECK(told.sentences.size() == std::size_t(found.trouble != GpuTrouble::none));
  (void)backend_in_use();
  CHECK(told.sentences.size() <= 1);
  use_backend({});
}

}  // namespace engram
