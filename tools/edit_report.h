// What the commands that change what was learned have in common.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/store.h"
#include "tools/session.h"

namespace engram {

// Root is refused where another user owns the state, such as the service: who could not open any more
// what root writes there.
Status check_owner(const std::string& state);

// For writing; says what opening had to repair. not_found: no state, and how to make one.
Result<Store> open_to_edit(const Session& session);

// "mug", "mug and kettle", "5 classes".
std::string names_text(const std::vector<ClassInfo>& classes);

// What was done, in one line without an end: "undone: learn mug (12 samples)".
std::string undone_text(const Step& step);
std::string relabelled_text(const EditReport& report, const std::string& label);
std::string renamed_text(const EditReport& report, const std::string& from, const std::string& to);
std::string forgotten_text(const EditReport& report, const std::string& label);

// `done`: the sentences that say it, one per line. The JSON object has what `more` has, and what all
// edits have: samples touched, by label; classes that are gone; what is left; the readout.
void report_edit(const Session& session, const Store& store, const EditReport& report,
                 const std::string& done, nlohmann::ordered_json more);

// A step as JSON: ids, samples, samples by label.
nlohmann::ordered_json step_json(const Step& step);

}  // namespace engram
