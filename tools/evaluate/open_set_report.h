// What `engram evaluate --open-set` prints and writes.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/open_set.h"

namespace engram {

// One result per seed. `false_alarms`: the rate that was asked for.
std::string open_set_text(const std::vector<OpenSetResult>& results, double false_alarms);
nlohmann::ordered_json open_set_json(const std::vector<OpenSetResult>& results,
                                     double false_alarms);
// Reliability: accuracy of the answers by their probability.
std::string reliability_svg(const std::vector<ReliabilityBin>& bins, const std::string& subtitle);

}  // namespace engram
