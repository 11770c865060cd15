// A device's table with any memory: what it cannot reach is staged, what it can is not copied.
#include "kernels/staged_call.h"

#include "platform/arena.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/staged_simt.h"
#include "tools/doctor/kernel_trials.h"

namespace engram {

using test::kStagedSimtKernels;
using test::OnSimtDevice;
using test::says;

TEST_CASE("staged_call: every operation gives the CPU's result, from any memory",
          "[kernels][device]") {
  const OnSimtDevice on;
  const bool staged = GENERATE(true, false);
  if (staged) set_buffer_memory(nullptr);  // operands in the machine's memory
  const std::size_t copied = DeviceStaging::of(simt::kMemory).copied_bytes();
  const KernelTrials trials = try_kernels(kStagedSimtKernels, TrialSize::emulator);
  CHECK((DeviceStaging::of(simt::kMemory).copied_bytes() > copied) == staged);
  REQUIRE(trials.trials.size() > 20);
  for (const KernelTrial& trial : trials.trials) {
    CAPTURE(trial.operation, trial.shape, trial.difference, trial.status.what());
    CHECK(trial.passed());
  }
}

TEST_CASE("staged_call: an operation that is not staged is caught", "[kernels][device]") {
  const OnSimtDevice on;
  std::vector<float> f(40, 0.5f);
  std::vector<std::int8_t> q(40);
  std::vector<std::int32_t> bad(4);
  const Status kernel = kSimtKernels.quantise(Stream{}, {f.data(), 4, 10, 10}, 10.0f,
                                              {q.data(), 4, 10, 10}, {bad.data(), 1, 4, 4});
  CHECK(kernel.code() == Code::device_failure);
  CHECK(says(kernel, "cannot reach"));
  CHECK(q == std::vector<std::int8_t>(40));  // it did not run
  std::vector<float> u(100, 1.0f);
  const Status library = kSimtKernels.triangular_solve(Stream{}, {u.data(), nullptr, 10, 10}, true,
                                                       {f.data(), 4, 10, 10});
  CHECK(library.code() == Code::device_failure);
  CHECK(says(library, "strsm"));
}

TEST_CASE("staged_call: memory of an arena costs no copy", "[kernels][device]") {
  const OnSimtDevice on;
  Arena arena = Arena::create(4096).value();
  const MatrixView<float> f = arena.take_matrix<float>(4, 10);
  const MatrixView<std::int8_t> q = arena.take_matrix<std::int8_t>(4, 10);
  const MatrixView<std::int32_t> bad = arena.take_matrix<std::int32_t>(1, 4);
  for (int i = 0; i < 40; ++i) f.data[i] = float(i);
  const std::size_t before = DeviceStaging::of(simt::kMemory).copied_bytes();
  REQUIRE(kStagedSimtKernels.quantise(Stream{}, f, 1.0f, q, bad).ok());
  CHECK(q(3, 9) == 39);
  CHECK(DeviceStaging::of(simt::kMemory).copied_bytes() == before);

  std::vector<float> elsewhere(f.data, f.data + 40);
  REQUIRE(kStagedSimtKernels.quantise(Stream{}, {elsewhere.data(), 4, 10, 10}, 2.0f, q, bad).ok());
  CHECK(q(3, 9) == 78);
  CHECK(DeviceStaging::of(simt::kMemory).copied_bytes() == before + 160);
}

TEST_CASE("staged_call: a device without memory for the operands refuses", "[kernels][device]") {
  const OnSimtDevice on({.memory_bytes = simt::device_bytes_allocated()});
  std::vector<float> f(1 << 22, 0.5f);
  std::vector<std::int8_t> q(1 << 22, 3);
  std::vector<std::int32_t> bad(1);
  const Status status =
      kStagedSimtKernels.quantise(Stream{}, {f.data(), 1, 1 << 22, 1 << 22}, 1.0f,
                                  {q.data(), 1, 1 << 22, 1 << 22}, {bad.data(), 1, 1, 1});
  CHECK(status.code() == Code::out_of_memory);
  CHECK(q[0] == 3);
}

TEST_CASE("backend: names, and what this machine has", "[kernels][device]") {
  CHECK(parse_backend("cpu").value() == BackendChoice::cpu);
  CHECK(parse_backend("auto").value() == BackendChoice::automatic);
  CHECK(parse_backend("cuda").value() == BackendChoice::cuda);
  CHECK(parse_backend("opencl").status().code() == Code::invalid_argument);
  const Backend any = find_backend(BackendChoice::automatic).value();
  CHECK(any.device.has_value() == any.why_cpu.empty());
  if (!any.device) CHECK_FALSE(find_backend(BackendChoice::cuda).ok());
  CHECK(find_backend(BackendChoice::cpu)->kernels == &kCpuKernels);
}

}  // namespace engram
