// What a learner may take of a device's memory, and the largest M that fits (engine/memory_plan.h).
#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "engine/memory_plan.h"

namespace engram {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
// Linux, display or camera stack, CUDA context, the backbone with its activations: what an 8 GB
// Orin Nano with a desktop-less JetPack has in use beside the learner.
constexpr std::int64_t kReserved = kGiB + kGiB / 2;
constexpr Device make_device(const char* name, std::int64_t gib) {
  // The GPU's carve-outs leave about 94 % of the nominal memory to Linux.
  const std::int64_t usable = gib * kGiB / 100 * 94;
  return {name, gib * kGiB, usable - kReserved};
}
constexpr std::array kDevices{make_device("orin-nano-4gb", 4), make_device("orin-nano-8gb", 8),
                              make_device("orin-nx-16gb", 16), make_device("agx-orin-64gb", 64),
                              make_device("agx-thor-128gb", 128),
                              // Cards of a desk: of their own memory.
                              make_device("rtx-3080-10gb", 10), make_device("rtx-4090-24gb", 24),
                              make_device("rtx-5090-32gb", 32)};

constexpr int kHiddenStep = 100;

std::string memory_text(std::int64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  if (bytes < 10'000'000) return fmt::format("{} kB", bytes / 1000);
  return fmt::format("{} MB", bytes / 1'000'000);
}

}  // namespace

std::span<const Device> devices() {
  return kDevices;
}

Result<std::int64_t> parse_budget(const std::string& text) {
  std::string known;
  for (const Device& device : kDevices) {
    if (text == device.name) return device.budget;
    known += fmt::format("{}, ", device.name);
  }
  double count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string unit(end, text.data() + text.size());
  struct Unit {
    const char* name;
    double bytes;
  };
  constexpr Unit kUnits[] = {{"", 1},         {"B", 1},        {"kB", 1e3},
                             {"MB", 1e6},     {"GB", 1e9},     {"KiB", 0x1p10},
                             {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TB", 1e12}};
  for (const Unit& known_unit : kUnits) {
    const double bytes = count * known_unit.bytes;
    if (error == std::errc{} && unit == known_unit.name && bytes >= 1 && bytes < 1e15) {
      return std::int64_t(bytes);
    }
  }
  return Status(
      Code::invalid_argument,
      fmt::format("\"{}\" is neither a device nor a number of bytes. Devices: {}or write a "
                  "number such as 512MiB or 4GB.",
                  text, known));
}

Result<int> largest_hidden(LearnerConfig config, int classes, std::int64_t budget,
                           std::int64_t task_samples, std::optional<std::int64_t> samples,
                           BytesBeside beside) {
  const auto needed = [&](int steps) {
    config.hidden = steps * kHiddenStep;
    const std::int64_t dense = std::int64_t{factored_limit(config)} + 1;
    const std::int64_t many = samples.value_or(planned_samples(config));
    return plan(config, classes, task_samples, std::max(many, dense)).total() +
           (beside == nullptr ? 0 : beside(config, classes));
  };
  const auto fits = [&](int steps) { return needed(steps) <= budget; };
  if (!fits(1)) {
    return Status(Code::out_of_memory,
                  fmt::format("Even {} hidden units need {}, and {} are there.", kHiddenStep,
                              memory_text(needed(1)), memory_text(budget)));
  }
  int low = 1, high = kMaxHidden / kHiddenStep;  // low fits; the plan grows with M
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low * kHiddenStep;
}

}  // namespace engram
