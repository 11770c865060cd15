// Findings about machines that are not this one: folders of files stand for them.
#include "tools/doctor/doctor.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "engine/device_plan.h"
#include "engine/memory_plan.h"
#include "kernels/kernels_simt.h"
#include "platform/arena.h"
#include "platform/engine_library.h"
#include "tests/support/catch.h"
#include "tests/support/fake_engine_library.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"
#include "tools/doctor/kernel_trials.h"

namespace engram {
namespace {

using test::says;
using test::TempDirectory;
using Verdict = Finding::Verdict;

void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("doctor: a Jetson by its files", "[tools][doctor]") {
  const TempDirectory root;
  write(root / "proc/device-tree/model", std::string("NVIDIA Jetson Orin Nano\0", 24));
  write(root / "etc/os-release", "NAME=x\nPRETTY_NAME=\"Ubuntu 22.04.4 LTS\"\n");
  write(root / "etc/nv_tegra_release", "# R36 (release), REVISION: 4.0\n");
  write(root / "var/lib/nvpmodel/status", "pmode:0002\n");
  write(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil\n");
  write(root / "sys/class/thermal/thermal_zone0/temp", "41500\n");
  write(root / "sys/class/thermal/thermal_zone1/temp", "52000\n");
  write(root / "dev/video0", "");
  write(root / "dev/media0", "");
  write(root / "sys/class/video4linux/video0/name", "vi-output, imx219\x1b[2J\n");

  const Finding machine = machine_finding(root.path());
  CHECK(says(machine.text, "Jetson Orin Nano"));
  CHECK(says(machine.text, "Ubuntu 22.04.4 LTS"));
  CHECK(says(machine.text, "R36"));
  const Finding power = power_finding(root.path());
  CHECK(power.verdict == Verdict::fine);
  CHECK(says(power.text, "pmode:0002"));
  CHECK(says(power.text, "52 °C"));
  const Finding cameras = camera_finding(root.path());
  CHECK(says(cameras.text, "/dev/video0 (vi-output, imx219"));
  CHECK_FALSE(says(cameras.text, "\x1b"));  // a name from a stranger
  CHECK(says(cameras.text, "1 media device"));

  write(root / "sys/class/thermal/thermal_zone1/temp", "91000\n");
  CHECK(power_finding(root.path()).verdict == Verdict::warning);
  write(root / "sys/class/thermal/thermal_zone1/temp", "30000\n");
  write(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  CHECK(power_finding(root.path()).verdict == Verdict::warning);
}

TEST_CASE("doctor: clocks and throttling while the kernels ran", "[tools][doctor]") {
  const TempDirectory root;
  CHECK(says(speed_finding(machine_state(root.path()), machine_state(root.path())).text,
             "says nothing of its clocks"));
  write(root / "sys/class/devfreq/17000000.gpu/cur_freq", "624750000\n");
  write(root / "sys/class/hwmon/hwmon1/oc1_event_cnt", "4\n");
  const MachineState before = machine_state(root.path());
  const Finding fast = speed_finding(before, machine_state(root.path()));
  CHECK(fast.verdict == Verdict::fine);
  CHECK(says(fast.text, "GPU at 625 MHz"));
  CHECK(says(fast.text, "did not slow itself down"));
  write(root / "sys/class/hwmon/hwmon1/oc1_event_cnt", "5\n");
  const Finding slow = speed_finding(before, machine_state(root.path()));
  CHECK(slow.verdict == Verdict::warning);
  CHECK(says(slow.text, "slowed itself down meanwhile"));
}

TEST_CASE("doctor: a machine that says nothing", "[tools][doctor]") {
  const TempDirectory root;
  CHECK_FALSE(machine_finding(root.path()).text.empty());
  CHECK_FALSE(processor_finding(root.path()).text.empty());
  CHECK(power_finding(root.path()).verdict == Verdict::fine);
  CHECK(camera_finding(root.path()).verdict == Verdict::remark);
  CHECK(available_memory(root.path()) == 0);
}

TEST_CASE("doctor: storage", "[tools][doctor]") {
  const TempDirectory place;
  const auto facts = storage_facts(place / "not/made/yet", place.path());
  REQUIRE(facts.ok());
  CHECK(facts.value().path == place.path());
  CHECK(facts.value().free_bytes > 0);
  CHECK_FALSE(facts.value().is_sd_card);

  const StorageFacts good{"/home", 10'000'000'000, false, true, false};
  CHECK(storage_finding(good, 1'000'000).verdict == Verdict::fine);
  StorageFacts bad = good;
  bad.is_read_only = true;
  CHECK(storage_finding(bad, 0).verdict == Verdict::failure);
  CHECK(storage_finding(bad, 0).code == Code::io_failure);
  CHECK(says(storage_finding(bad, 0).text, "read-only"));
  bad = good;
  bad.is_writable = false;
  CHECK(storage_finding(bad, 0).verdict == Verdict::failure);
  bad = good;
  bad.free_bytes = 10;
  CHECK(says(storage_finding(bad, 1'000'000).text, "Make room"));
  bad = good;
  bad.is_sd_card = true;
  CHECK(storage_finding(bad, 0).verdict == Verdict::remark);
  CHECK(says(storage_finding(bad, 0).text, "SD card"));
}

TEST_CASE("doctor: an SD card is told by its disk", "[tools][doctor]") {
  const TempDirectory root;
  struct stat file {};
  REQUIRE(stat(root.path().c_str(), &file) == 0);
  write(root / "sys/devices/mmcblk0/device/type", "SD\n");
  std::filesystem::create_directories(root / "sys/devices/mmcblk0/mmcblk0p1");
  std::filesystem::create_directories(root / "sys/dev/block");
  const std::string link = root / ("sys/dev/block/" + std::to_string(major(file.st_dev)) + ":" +
                                   std::to_string(minor(file.st_dev)));
  std::filesystem::create_directory_symlink("../../devices/mmcblk0/mmcblk0p1", link);
  CHECK(storage_facts(root.path(), root.path())->is_sd_card);
  write(root / "sys/devices/mmcblk0/device/type", "MMC\n");
  CHECK_FALSE(storage_facts(root.path(), root.path())->is_sd_card);
}

TEST_CASE("doctor: memory and clock", "[tools][doctor]") {
  CHECK(memory_finding("a learner", 10, 100, 50).verdict == Verdict::fine);
  CHECK(memory_finding("a learner", 60, 100, 50).verdict == Verdict::warning);
  CHECK(memory_finding("a learner", 60, 100, 0).verdict == Verdict::fine);
  CHECK(memory_finding("a learner", 101, 100, 50).code == Code::out_of_memory);
  CHECK(clock_finding(2'000'000'000, 1'999'000'000).verdict == Verdict::fine);
  CHECK(clock_finding(0, 1'999'000'000).verdict == Verdict::warning);
}

TEST_CASE("doctor: a learner on a GPU is held against its memory", "[tools][doctor]") {
  LearnerConfig config;
  config.features = 1280;
  const std::int64_t planned = plan(config, 100).total(), staging = staging_bytes(config, 100);
  REQUIRE(staging > 0);
  DeviceInfo card{.name = "a card"};
  const auto verdict = [&](std::int64_t all, std::int64_t free) {
    card.memory_bytes = all, card.free_bytes = free;
    return memory_finding("a learner", config, 100, card).verdict;
  };
  CHECK(verdict(planned + staging, planned + staging) == Verdict::fine);
  CHECK(verdict(planned + staging, planned + staging - 1) == Verdict::warning);
  CHECK(verdict(planned + staging - 1, 1) == Verdict::failure);  // whatever the machine has
  CHECK(says(memory_finding("a learner", config, 100, card).text, "a learner on a card takes"));
  CHECK_FALSE(says(memory_finding("a learner", config, 100, std::nullopt).text, " on a card"));
}

TEST_CASE("doctor: a GPU without TensorRT is a warning", "[tools][doctor]") {
  const std::string gpu = "Orin, compute 8.7";
  CHECK(tensorrt_finding(nullptr, "").verdict == Verdict::remark);
  CHECK(tensorrt_finding(nullptr, gpu).verdict == Verdict::warning);
  CHECK(says(tensorrt_finding(nullptr, gpu).text, gpu));
  CHECK(says(tensorrt_finding(nullptr, gpu).text, "ENGRAM_TENSORRT_INCLUDE"));

  test::FakeEngineLibrary library;
  CHECK(tensorrt_finding(&library, gpu).verdict == Verdict::fine);
  library.has_gpu = false;  // of the library: it is not installed, say
  CHECK(tensorrt_finding(&library, "").verdict == Verdict::remark);
  CHECK(tensorrt_finding(&library, gpu).verdict == Verdict::warning);
  CHECK(says(tensorrt_finding(&library, gpu).text, "there is no GPU in this machine. Backbones"));
  CHECK(says(tensorrt_finding(&library, gpu).text, "apt install nvidia-jetpack"));

  use_engine_library(false);  // --backend cpu: as it was told to
  const Finding told = tensorrt_finding();
  use_engine_library(true);
  CHECK(told.verdict == Verdict::remark);
  CHECK(says(told.text, "told to use the CPU"));
}

TEST_CASE("kernel trials: a kernel that errs is found", "[tools][doctor]") {
  Kernels wrong = kSimtKernels;
  wrong.activate = [](Stream stream, MatrixView<const std::int32_t> p, std::int32_t mul,
                      std::int32_t hmax, MatrixView<float> h) {
    ENGRAM_TRY(simt::activate(stream, p, mul, hmax, h));
    h(h.rows - 1, h.cols - 1) += 1.0f;
    return Status();
  };
  wrong.cholesky_solve = [](Stream, GramView, MatrixView<float> x) {
    x(0, 0) = std::nanf("");
    return Status();
  };
  wrong.quantise = [](Stream, MatrixView<const float>, float, MatrixView<std::int8_t>,
                      MatrixView<std::int32_t>) { return Status(Code::internal, "refused"); };
  int failed = 0;
  const KernelTrials trials = try_kernels(wrong, TrialSize::emulator, [&](const KernelTrial& one) {
    const bool bad = one.operation == "activate" || one.operation == "cholesky_solve" ||
                     one.operation == "quantise" || one.operation == "frame";
    CAPTURE(one.operation, one.shape);
    CHECK(one.passed() == !bad);
    failed += bad;
  });
  CHECK(trials.failures() == failed);
  CHECK(failed == 7 + 2 + 7 + 7);  // shapes of each
  CHECK(try_kernels(kSimtKernels, TrialSize::emulator).failures() == 0);
  CHECK(try_kernels(kCpuKernels, TrialSize::emulator).trials.empty());
}

}  // namespace engram
