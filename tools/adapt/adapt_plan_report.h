// What an adaptation would take, before it takes anything: memory row by row, and on a named device
// the estimated time of a step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "engine/adapt_plan.h"
#include "tools/adapt/adapt_estimate.h"

namespace engram {

struct AdaptOutlook {
  AdaptSettings settings;
  AdaptPlan memory;
  int classes = 0, pictures = 0;
  std::string device{};  // empty: no estimate
  std::optional<AdaptEstimate> estimate{};

  double epoch_seconds() const;  // estimated
};

// In at most `memory` bytes. invalid_argument: settings that make no sense, or no device of that name
// is known. out_of_memory: what would fit.
Result<AdaptOutlook> look_ahead(const VitModel& model, const AdaptSettings& settings, int classes,
                                int pictures, std::int64_t memory, const std::string& device);

std::string outlook_text(const AdaptOutlook& outlook, bool colour);
nlohmann::ordered_json outlook_json(const AdaptOutlook& outlook);

}  // namespace engram
