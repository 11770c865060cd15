// How hot the machine is and whether it is held back: then we look half as often, and say why.
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "tools/live/teach.h"

namespace engram {
namespace {

constexpr std::chrono::seconds kBetweenWatches{2};
constexpr std::chrono::seconds kHeldBack{30};  // after an event that lasts no time itself
constexpr double kCooler = 3;                  // degrees below the limit: then the full rate again

constexpr const char* kHeat = "heat";
constexpr const char* kPower = "power";

}  // namespace

std::int64_t Teach::resident_bytes() {
  std::int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

// Empty: nothing. Over-current is an event; as it comes again and again, it counts for a while.
std::string Teach::what_slows(const MachineState& now) {
  const double limit = settings_.hottest - (slowed_by_ == kHeat ? kCooler : 0);
  if (now.celsius.value_or(-1) > limit || now.is_slowed.value_or(false)) return kHeat;
  const MachineState before = machine_.value_or(now);
  if (was_throttled(before, now).value_or(false)) {
    slowed_until_ = Clock::now() + kHeldBack;
    return now.power_events.value_or(0) > before.power_events.value_or(0) ? kPower : kHeat;
  }
  return Clock::now() < slowed_until_ ? slowed_by_ : "";
}

void Teach::watch_machine() {
  watch_at_ = Clock::now() + kBetweenWatches;
  const MachineState machine = machine_state(settings_.machine_root);
  const std::string slowed_by = what_slows(machine);
  machine_ = machine;
  const std::int64_t resident = resident_bytes();
  board_.change([&](LiveState& state) {
    state.temperature = machine.celsius.value_or(-1);
    state.power_mode = machine.power_mode;
    state.slowed_by = slowed_by;
    state.resident_bytes = resident;
  });
  if (slowed_by == slowed_by_) return;
  slowed_by_ = slowed_by;
  board_.change_view([&](Board::View& view) { view.throttled = !slowed_by.empty(); });
  if (slowed_by.empty()) {
    board_.event("heat", "the machine is held back no more: looking at the full rate");
  } else if (slowed_by == kPower) {
    board_.event(
        "power",
        fmt::format("the power limit{} slows the machine down: looking half as "
                    "often",
                    machine.power_mode.empty() ? "" : " (mode " + machine.power_mode + ")"));
  } else if (machine.celsius.value_or(-1) > settings_.hottest) {
    board_.event("heat", fmt::format("the machine is hot ({:.0f} °C): looking half as often",
                                     *machine.celsius));
  } else {
    board_.event("heat", "the machine slows itself down for heat: looking half as often");
  }
}

}  // namespace engram
