// How long a step of Phase 1 takes on a GPU, estimated (kernels/roofline.h): nothing was measured.
//
// The training itself runs, with a table of operations that count what they are asked for instead of
// doing it: the estimate follows the host code, whatever the method and the plan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/adapt_settings.h"
#include "engine/vit_model.h"
#include "platform/device_peaks.h"
#include "platform/status.h"

namespace engram {

struct AdaptEstimate {
  struct Operation {
    std::string name;
    int calls = 0;
    double seconds = 0;  // on the GPU, with starting each
  };
  std::vector<Operation> operations;  // of one step, the longest first
  double step_seconds() const;
};

// A step of settings.batch pictures, in micro-batches as the plan for `memory` bytes says. It takes
// the memory of a training for the time being, mostly untouched.
Result<AdaptEstimate> estimate_adaptation(const VitModel& model, const AdaptSettings& settings,
                                          int classes, std::int64_t memory,
                                          const DevicePeaks& device);

}  // namespace engram
