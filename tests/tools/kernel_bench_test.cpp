// `engram bench kernels`: rows of every operation, what the machine says, comparisons. No times.
#include "tools/bench/kernel_bench.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "platform/buffer_allocator.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/staged_simt.h"
#include "tests/support/temp_directory.h"
#include "tools/bench/kernel_bench_cases.h"
#include "tools/bench/kernel_bench_report.h"

namespace engram {
namespace {

using test::says;

BenchOptions small_options() {
  BenchOptions options;
  options.units = {40};
  options.frames = {1, 9};
  options.features = {33};
  options.classes = 3;
  options.samples = 5;
  options.pictures = 1;
  options.tokens = 12;
  options.heads = 1;
  options.seconds = 0.001;
  options.other_rows = 1;
  return options;
}

void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text << "\n";
}

BenchRow made_up(const std::string& operation, double warm, double noise) {
  return {.operation = operation, .backend = "cpu", .shape = "B 1", .warm = warm, .noise = noise};
}

}  // namespace

TEST_CASE("kernel_bench: every operation of the CPU, each shape once", "[tools][bench]") {
  const auto rows = bench_kernels({}, small_options());
  REQUIRE(rows.ok());
  std::set<std::string> operations, shapes;
  for (const BenchRow& row : rows.value()) {
    CAPTURE(row.operation, row.shape);
    operations.insert(row.operation);
    CHECK(shapes.insert(row.operation + row.shape).second);
    CHECK((row.cold > 0 && row.warm > 0 && row.noise >= 0 && row.runs >= 5 && row.bytes > 0));
    CHECK(row.backend == "cpu");
    CHECK_FALSE(row.estimate);
  }
  const std::vector<std::string> known = bench_operations();
  CHECK(operations == std::set<std::string>(known.begin(), known.end()));
  BenchOptions few = small_options();
  few.operations = {"score"};
  CHECK(bench_kernels({}, few).value().size() == 2);
}

// Each operation of the table, whatever it is called, is a pointer between its name and the two
// functions around sequences.
TEST_CASE("kernel_bench: no operation of kernels.h is forgotten", "[tools][bench]") {
  constexpr std::size_t kPointers = sizeof(Kernels) / sizeof(void*), kFirst = 1, kAround = 2;
  std::vector<TrialCase> cases;
  REQUIRE(visit_bench_cases(small_options(), [&](const TrialCase& one) {
            cases.push_back(one);
            return Status();
          }).ok());
  std::set<std::string> found;
  for (std::size_t i = kFirst; i < kPointers - kAround; ++i) {
    Kernels other = kCpuKernels;  // but for one
    const void* const somewhere = &other;
    std::memcpy(reinterpret_cast<std::byte*>(&other) + i * sizeof(void*), &somewhere,
                sizeof(somewhere));
    std::set<std::string> its_own;
    for (const TrialCase& one : cases) {
      if (one.has(other)) its_own.insert(one.operation);
    }
    CAPTURE(i);
    REQUIRE(its_own.size() == 1);
    CHECK(found.insert(*its_own.begin()).second);
  }
  const std::vector<std::string> known = bench_operations();
  CHECK(found == std::set<std::string>(known.begin(), known.end()));
}

TEST_CASE("kernel_bench: both ways of hidden units are measured", "[tools][bench]") {
  BenchOptions options = small_options();
  options.operations = {"gram_update"};
  options.frames = {9};
  const auto rows = bench_kernels({}, options).value();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].shape == "B 9 M 40");
  CHECK(rows[1].shape == "B 9 M 40 float");
}

TEST_CASE("kernel_bench: a device is timed by itself, with its estimate", "[tools][bench]") {
  const test::OnSimtDevice on;
  BenchOptions options = small_options();
  options.operations = {"sign_project", "gram_update", "cholesky"};
  const auto rows = bench_kernels(
      {&test::kStagedSimtKernels, &simt::kMemory, published_peaks("orin-nano-8gb")}, options);
  REQUIRE(rows.ok());
  REQUIRE(rows.value().size() == 7);
  for (const BenchRow& row : rows.value()) {
    CHECK(row.warm > 0);
    CHECK(row.estimate.value() > 0);
  }
  // Only while it is asked for.
  const double last = DeviceStaging::of(simt::kMemory).work_seconds();
  CHECK(last > 0);
  BufferVector<std::int32_t> p(8);
  BufferVector<float> h(8);
  REQUIRE(
      test::kStagedSimtKernels.activate(Stream{}, {p.data(), 1, 8, 8}, 1, 1, {h.data(), 1, 8, 8})
          .ok());
  CHECK(DeviceStaging::of(simt::kMemory).work_seconds() == last);
}

TEST_CASE("kernel_bench: slower beyond noise, and only then", "[tools][bench]") {
  const std::vector<BenchRow> before{made_up("score", 1.0, 0.01), made_up("activate", 1.0, 0.2),
                                     made_up("quantise", 1.0, 0.0), made_up("project", 1.0, 0.0)};
  const std::vector<BenchRow> now{made_up("score", 1.2, 0.01), made_up("activate", 1.5, 0.1),
                                  made_up("quantise", 0.5, 0.0), made_up("cholesky", 9.0, 0.0)};
  const std::vector<BenchChange> changes = compare_bench(before, now);
  REQUIRE(changes.size() == 3);         // what both have
  CHECK(changes[0].is_slower());        // a fifth, where a tenth is allowed
  CHECK_FALSE(changes[1].is_slower());  // half, but noisy
  CHECK(changes[2].is_faster());
  CHECK(says(changes_text(changes, false), "SLOWER"));
  CHECK(changes_json(changes)[0]["slower"] == true);
  const std::vector<BenchRow> missing = missing_rows(before, now);
  REQUIRE(missing.size() == 1);
  CHECK(missing_text(missing) == "  project cpu B 1\n");
  CHECK(missing_json(missing)[0]["operation"] == "project");
}

TEST_CASE("kernel_bench: reports, and what is read again", "[tools][bench]") {
  std::vector<BenchRow> rows{made_up("score", 2e-5, 0.05)};
  rows[0].throttled = true;
  rows[0].bytes = 1e6;
  CHECK(says(bench_text(rows, false), "THROTTLED"));
  CHECK(says(bench_csv(rows), "score,cpu,B 1,0,0,2e-05,0.0500,50,"));
  rows[0].state.power_mode = "pmode:0002, \"quiet\"";
  rows[0].state.governor = "schedutil";
  CHECK(says(bench_csv(rows), ",estimate_s,power_mode,governor,cpu_mhz,"));
  CHECK(says(bench_csv(rows), ",\"pmode:0002, \"\"quiet\"\"\",schedutil,,,,1\n"));
  const nlohmann::ordered_json file{{"rows", bench_json(rows)}};
  const auto again = parse_bench(file.dump(), "old.json");
  REQUIRE(again.ok());
  CHECK(again.value()[0].warm == 2e-5);
  for (
      const char* bad :
      {"", "{", "[]", "{}", R"({"rows": 1})", R"({"rows": [1]})",
       R"({"rows": [{"operation": "score"}]})",
       R"({"rows": [{"operation": 1, "backend": "cpu", "shape": "", "warm_seconds": 1, "noise": 0}]})",
       R"({"rows": [{"operation": "", "backend": "", "shape": "", "warm_seconds": 0, "noise": 0}]})"}) {
    CAPTURE(bad);
    const auto refused = parse_bench(bad, "old.json");
    CHECK(refused.status().code() == Code::bad_data);
    CHECK(says(refused.status(), "old.json"));
  }
}

TEST_CASE("machine_state: what a Jetson says, and a machine that says nothing", "[tools][bench]") {
  const test::TempDirectory root;
  const MachineState nothing = machine_state(root.path());
  CHECK(says(state_text(nothing), "tells nothing of: clocks, power mode, temperature, throttling"));
  CHECK_FALSE(was_throttled(nothing, nothing));
  write(root / "var/lib/nvpmodel/status", "pmode:0002");
  write(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil");
  write(root / "sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", "1510400");
  write(root / "sys/class/devfreq/17000000.gpu/cur_freq", "624750000");
  write(root / "sys/class/thermal/thermal_zone1/temp", "51500");
  write(root / "sys/class/thermal/cooling_device0/type", "pwm-fan");
  write(root / "sys/class/thermal/cooling_device0/cur_state", "3");
  write(root / "sys/class/thermal/cooling_device1/type", "cpu-throttle-alert");
  write(root / "sys/class/thermal/cooling_device1/cur_state", "0");
  write(root / "sys/class/hwmon/hwmon2/oc3_event_cnt", "4");
  const MachineState before = machine_state(root.path());
  CHECK(before.gpu_mhz.value() == Approx(624.75));
  CHECK(before.cpu_mhz.value() == Approx(1510.4));
  CHECK(before.celsius.value() == Approx(51.5));
  CHECK(says(state_text(before), "power mode pmode:0002"));
  CHECK(was_throttled(before, before) == false);
  write(root / "sys/class/hwmon/hwmon2/oc3_event_cnt", "5");
  CHECK(was_throttled(before, machine_state(root.path())) == true);
  write(root / "sys/class/hwmon/hwmon2/oc3_event_cnt", "4");
  write(root / "sys/class/thermal/cooling_device1/cur_state", "2");
  CHECK(was_throttled(before, machine_state(root.path())) == true);
}

}  // namespace engram
