// What `engram evaluate` found, for people, for programs and as pictures.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tools/evaluate/evaluation.h"

namespace engram {

std::string evaluation_text(const Evaluation& evaluation);             // evaluation_report.cpp
nlohmann::ordered_json evaluation_json(const Evaluation& evaluation);  // evaluation_json.cpp
std::string evaluation_csv(const Evaluation& evaluation);   // a line per row, run and task
std::string evaluation_html(const Evaluation& evaluation);  // one page, plots inside

// SVG. A_t of every row while learning, with R of the first row beside it; and final accuracy over
// M, empty where there are not several M.
std::string accuracy_plot(const Evaluation& evaluation);  // evaluation_plots.cpp
std::string hidden_plot(const Evaluation& evaluation);

// One line: backbone, L, samples, classes, protocol.
std::string evaluation_subject(const Evaluation& evaluation);
// One line: what Phase 1 trained on the first task of a class order, and what it gained there.
std::string phase1_text(const Phase1Run& run);
std::string percent_text(double value);             // "92.3"; "-" where there is none
std::string mean_text(const MeanDeviation& value);  // "92.3", or "92.3 ±0.2" over several runs
// Columns of R that are worth printing; 0: too many.
std::size_t printed_columns(const ProtocolResult& result);

}  // namespace engram
