// Which cases `engram bench kernels` measures: those of `doctor`'s trials, on the shapes asked for.
#pragma once

#include <functional>

#include "tools/bench/kernel_bench.h"
#include "tools/doctor/kernel_trial_cases.h"

namespace engram {

// Each case of the wanted operations once, with the operands of one shape in memory at a time.
Status visit_bench_cases(const BenchOptions& options,
                         const std::function<Status(const TrialCase&)>& visit);

}  // namespace engram
