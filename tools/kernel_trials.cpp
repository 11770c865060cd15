#include "tools/kernel_trials.h"

#include <algorithm>

#include "tools/kernel_trial_cases.h"
#include "tools/units.h"

namespace engram {
namespace {

std::vector<TrialCase> cases_of(TrialSize size) {
  std::vector<TrialCase> all;
  const auto add = [&all](std::vector<TrialCase> more) {
    for (TrialCase& one : more) all.push_back(std::move(one));
  };
  // Below, at and above the edges of tiles; each way that an operation takes by its batch.
  for (const OperationShape& shape :
       {OperationShape{1, 31, 63, 3, 5}, OperationShape{3, 33, 65, 4, 9},
        OperationShape{8, 64, 96, 6, 33}, OperationShape{16, 128, 100, 7, 64},
        OperationShape{17, 96, 130, 5, 17}, OperationShape{64, 128, 128, 10, 65},
        OperationShape{97, 544, 65, 3, 5}}) {
    add(frame_cases(shape));
    all.push_back(sequence_case(shape));
    add(float_cases(shape));
    add(training_cases(shape));
  }
  const auto transformer = [](int pictures, int tokens, int heads, int head, int units) {
    return OperationShape{.frames = pictures,
                          .features = heads * head,
                          .units = units,
                          .tokens = tokens,
                          .heads = heads};
  };
  add(transformer_cases(transformer(3, 12, 3, 5, 31)));
  add(transformer_cases(transformer(1, 33, 1, 64, 257)));
  add(transformer_cases(transformer(1, 19, 1, 72, 100)));  // a wide head
  add(factor_cases(33, 4));
  add(factor_cases(130, 9));
  if (size == TrialSize::device) {
    add(frame_cases({1, 1280, 4000, 100, 1000}));
    all.push_back(sequence_case({1, 1280, 4000, 100, 1000}));
    add(frame_cases({16, 1280, 4000, 100, 1000}));
    add(frame_cases({256, 1280, 2000, 101, 1000}));
    add(float_cases({16, 1280, 2000, 100, 1000}));
    add(factor_cases(2000, 101));
    all.push_back(large_factor_case(5000));
    add(transformer_cases(transformer(8, 202, 12, 64, 3072)));
    add(training_cases({.frames = 8 * 197, .features = 768, .units = 3072, .classes = 100}));
  }
  return all;
}

// Milliseconds of the best run.
Status timed(const TrialCase& one, const Kernels& kernels, int runs, TrialFloats& result,
             double& milliseconds) {
  const TrialClock clock;
  for (int i = 0; i < runs; ++i) ENGRAM_TRY(one.run(kernels, clock, result));
  milliseconds = clock.milliseconds();
  return {};
}

}  // namespace

int KernelTrials::failures() const {
  return int(std::count_if(trials.begin(), trials.end(),
                           [](const KernelTrial& trial) { return !trial.passed(); }));
}

KernelTrials try_kernels(const Kernels& device, TrialSize size,
                         const std::function<void(const KernelTrial&)>& tried) {
  const int runs = size == TrialSize::device ? 3 : 1;
  KernelTrials all;
  for (const TrialCase& one : cases_of(size)) {
    if (!one.has(device)) {
      const auto known = std::find(all.on_the_cpu.begin(), all.on_the_cpu.end(), one.operation);
      if (known == all.on_the_cpu.end()) all.on_the_cpu.push_back(one.operation);
      continue;
    }
    KernelTrial trial{
        one.operation, one.shape, one.size, one.tolerance == kSameBits, 0, one.tolerance, 0, 0, {}};
    TrialFloats wanted, got;
    Status ours = timed(one, kCpuKernels, runs, wanted, trial.cpu_ms);
    trial.status = ours.ok() ? timed(one, device, runs, got, trial.device_ms) : std::move(ours);
    if (trial.status.ok()) trial.difference = one.difference(wanted, got);
    if (tried) tried(trial);
    all.trials.push_back(std::move(trial));
  }
  return all;
}

}  // namespace engram
