// What an adaptation came to, for people, for programs and as a picture.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/adapt/adapt_model.h"
#include "tools/adapt/adapt_run.h"

namespace engram {

// From 0, or from the least where losses are close together; at least 0.01 long. NaN does not count.
struct LossAxis {
  double low, high;
};
LossAxis loss_axis(const std::vector<double>& losses);
// Losses and accuracies over epochs in a terminal; empty for fewer than two epochs.
std::string adapt_curves_text(const std::vector<AdaptEpoch>& curves);
// The same as SVG: loss beside accuracy, the epoch that was kept marked.
std::string adapt_curves_svg(const std::vector<AdaptEpoch>& curves, const std::string& title,
                             const std::string& subtitle);  // adapt_plots.cpp
nlohmann::ordered_json adapt_curves_json(const std::vector<AdaptEpoch>& curves);

// Which epoch was kept, and why training ended.
std::string ended_text(const AdaptRun& run, AdaptRun::End end);
// Whether the pictures held out do not speak against the adapted model: that is, fewer of them are right
// than before by more than chance explains, one deviation of sqrt(n p (1 - p)). They are few: where it
// was measured, a model with one of 50 less gained four points.
bool is_worth_adding(const RightAnswers& before, const RightAnswers& after);
// The gain by nearest class means; where there is none, what became of it, and what to do.
// `name`: of the new model; `parent`: of the one it was made from.
std::string gain_text(const RightAnswers& before, const AdaptedModel& model,
                      const std::string& parent);
// Seconds of all epochs.
double training_seconds(const std::vector<AdaptEpoch>& curves);

nlohmann::ordered_json adapt_json(const AdaptRun& run, AdaptRun::End end,
                                  const AdaptedModel& model);

}  // namespace engram
