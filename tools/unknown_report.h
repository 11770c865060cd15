// What `engram classes` and `engram inspect` say about "unknown": from what it is told, or why not.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "engine/readout.h"

namespace engram {

// Whether anything can be called unknown. If not, everything gets the nearest label.
bool says_unknown(const Readout* readout);
// One sentence. readout: null before the first end of a task.
std::string unknown_sentence(const Readout* readout);
// The field "unknown" of --json.
nlohmann::ordered_json unknown_json(const Readout* readout);

}  // namespace engram
