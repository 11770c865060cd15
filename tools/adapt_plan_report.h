// What an adaptation would take, before it takes anything: memory row by row, and on a named device
// the estimated time of a step.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "engine/adapt_plan.h"
#include "tools/adapt_estimate.h"

namespace engram {

struct AdaptOutlook {
  AdaptSettings settings;
  AdaptPlan memory;
  int classes = 0, pictures = 0;
  std::string device{};  // empty: no estimate
  std::optional<AdaptEstimate> estimate{};

  double epoch_seconds() const;  // estimated
};

std::string outlook_text(const AdaptOutlook& outlook, bool colour);
nlohmann::ordered_json outlook_json(const AdaptOutlook& outlook);

}  // namespace engram
