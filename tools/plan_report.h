// What `engram plan` says: the buffers of a learner, whether they fit, and times on a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/config.h"
#include "engine/memory_plan.h"
#include "tools/console/console.h"
#include "tools/estimate_report.h"
#include "tools/learner_options.h"

namespace engram {

struct PlanOptions {
  std::string device;
  std::optional<int> features;  // none: of --model, or 1280
  int classes = 100;
  std::int64_t task_samples = 1000;
  std::optional<std::int64_t> samples;  // learned in all; none: many
  LearnerOptions learner;
};

// What is planned: the options completed.
struct Planned {
  LearnerConfig config;
  std::int64_t budget = 0;  // of the device; 0: none was named
  bool chosen = false;      // M was chosen here
  std::optional<DevicePeaks> peaks;
  bool on_gpu = false;
};

// `model`: as the user named it, or empty.
void report_plan(const Console& console, const Planned& planned, const PlanOptions& options,
                 const std::string& model);

}  // namespace engram
