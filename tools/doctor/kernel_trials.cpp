#include "tools/doctor/kernel_trials.h"

#include <algorithm>
#include <limits>
#include <new>

#include "kernels/backend.h"
#include "platform/arena.h"
#include "platform/sentence.h"
#include "platform/steady_time.h"
#include "tools/doctor/kernel_trial_cases.h"

namespace engram {
namespace {

// Why memory was refused: the device is lost, or there is too little.
Status refused_memory() {
  if (const DeviceMemory* const memory = buffer_memory()) {
    const Result<void*> little = memory->allocate(1);
    if (!little.ok()) return little.status();
    memory->release(little.value(), 1);
  }
  return Status(Code::out_of_memory, "There is not enough memory for its operands.");
}

template <class Work>
Status without_throwing(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return refused_memory();
  } catch (const std::exception& error) {
    return Status(Code::internal, error.what());
  }
}

class TrialSeries {
 public:
  using Tried = std::function<void(const KernelTrial&)>;

  TrialSeries(const Kernels& device, TrialSize size, const Tried& tried)
      : device_(device), is_real_(size == TrialSize::device), tried_(tried) {
    if (const DeviceMemory* const memory = buffer_memory()) staging_ = &DeviceStaging::of(*memory);
    if (staging_ != nullptr) staging_->measure(true);
  }
  ~TrialSeries() {
    if (staging_ != nullptr) staging_->measure(false);
  }
  TrialSeries(const TrialSeries&) = delete;
  TrialSeries& operator=(const TrialSeries&) = delete;

  void add(const TrialMaker& make) {
    std::vector<TrialCase> cases;
    const Status made = without_throwing([&] { return cases = make(), Status(); });
    if (!made.ok()) {
      const DeviceMemory* const memory = buffer_memory();
      set_buffer_memory(nullptr);
      const Status named = without_throwing([&] { return cases = make(), Status(); });
      set_buffer_memory(memory);
      const bool has_names = named.ok() && !cases.empty();
      give_up_if_lost(made, "the operands of " + (has_names ? cases.front().operation : "a trial"));
      if (!has_names) add_nameless(made);
    }
    for (const TrialCase& one : cases) {
      if (one.has(device_)) {
        add(one, made);
      } else if (!std::ranges::count(all_.on_the_cpu, one.operation)) {
        all_.on_the_cpu.push_back(one.operation);
      }
    }
  }
  KernelTrials& all() { return all_; }

 private:
  // Not even its operands' names could be made.
  void add_nameless(const Status& made) {
    KernelTrial trial;
    trial.operation = "operands";
    trial.was_tried = false;
    trial.status = Status(made.code(), "not tried: " + first_sentence(made.what()));
    if (tried_) tried_(trial);
    all_.trials.push_back(std::move(trial));
  }
  void add(const TrialCase& one, const Status& made) {
    KernelTrial trial{.operation = one.operation,
                      .shape = one.shape,
                      .size = one.size,
                      .whole_numbers = one.tolerance == kSameBits,
                      .tolerance = one.tolerance};
    if (!all_.lost.ok()) {
      trial.was_tried = false;
      trial.status = Status(Code::device_failure, "not tried: the GPU was lost at " + all_.lost_at);
    } else if (!made.ok()) {
      trial.was_tried = false;
      trial.status = Status(made.code(), "not tried: " + first_sentence(made.what()));
    } else {
      trial.status = without_throwing([&] { return compare(one, trial); });
      give_up_if_lost(trial.status, one.operation + " " + one.shape);
    }
    if (tried_) tried_(trial);
    all_.trials.push_back(std::move(trial));
  }

  Status compare(const TrialCase& one, KernelTrial& trial) {
    TrialFloats wanted, got;
    ENGRAM_TRY(time(one, kCpuKernels, TrialClock(), wanted, trial.cpu_ms));
    ENGRAM_TRY(warm_up(one));
    const std::size_t repeated = staging_ != nullptr ? staging_->recordings().repeated : 0;
    ENGRAM_TRY(time(one, device_, TrialClock(staging_), got, trial.device_ms));
    rests_since_ = seconds_now();
    trial.difference = one.difference(wanted, got);
    if (one.is_sequence && staging_ != nullptr) {
      trial.is_recorded = staging_->recordings().repeated > repeated;
      const Status& failure = staging_->recordings().failure;
      if (!*trial.is_recorded) {
        trial.why_not_recorded =
            failure.ok() ? "it was never the same work again" : first_sentence(failure.what());
      }
    }
    return {};
  }

  // Milliseconds of the best run. What takes long is not made more certain by more runs.
  Status time(const TrialCase& one, const Kernels& kernels, const TrialClock& clock,
              TrialFloats& result, double& milliseconds) const {
    constexpr int kRuns = 3;
    constexpr double kLong = 1;
    const double start = seconds_now();
    for (int i = 0; i < (is_real_ ? kRuns : 1); ++i) {
      if (i > 0 && seconds_now() - start > kLong) break;
      ENGRAM_TRY(one.run(kernels, clock, result));
    }
    milliseconds = clock.milliseconds();
    return {};
  }

  // A GPU that rests lowers its clock, and while the CPU computes it rests: it works for as long again
  // before it is timed, at most for as long as a clock takes to rise.
  Status warm_up(const TrialCase& one) const {
    constexpr double kLongest = 0.1;
    if (!is_real_) return {};
    const double start = seconds_now(), least = std::min(start - rests_since_, kLongest);
    TrialFloats unused;
    const TrialClock clock;
    do {
      ENGRAM_TRY(one.run(device_, clock, unused));
    } while (seconds_now() - start < least);
    return {};
  }

  // Buffers then come from the machine.
  void give_up_if_lost(const Status& status, const std::string& where) {
    if (status.ok()) return;
    Status lost = give_up_lost_device(status);
    if (lost.ok() && status.code() == Code::device_failure) lost = status;
    if (lost.ok()) return;
    all_.lost = lost;
    all_.lost_at = where;
  }

  const Kernels& device_;
  const bool is_real_;
  const Tried& tried_;
  DeviceStaging* staging_ = nullptr;
  double rests_since_ = -std::numeric_limits<double>::infinity();
  KernelTrials all_;
};

}  // namespace

int KernelTrials::failures() const {
  return int(std::ranges::count_if(trials, [](const KernelTrial& one) { return !one.passed(); }));
}

int KernelTrials::not_tried() const {
  return int(std::ranges::count_if(trials, [](const KernelTrial& one) { return !one.was_tried; }));
}

KernelTrials try_kernels(const Kernels& device, TrialSize size,
                         const std::function<void(const KernelTrial&)>& tried) {
  TrialSeries series(device, size, tried);
  for (const TrialMaker& make : trial_makers(size)) series.add(make);
  return std::move(series.all());
}

}  // namespace engram
