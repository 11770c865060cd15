// Examples of known and unknown things, made from learned samples alone.
//
// A sample is *known* to a readout that learned its class without it, and *unknown* to one that
// never saw its class (engine/left_out.h).
//
// Outcomes that are defined but have no example: a class of one sample has no known example (the
// readout without it never saw its class); fewer than three classes have no unknown one (a readout
// of one class scores everything alike, and the margin means nothing).
#pragma once

#include <span>
#include <vector>

#include "engine/left_out.h"
#include "engine/score_summary.h"

namespace engram {

constexpr int kNoveltySamples = 512;  // 0.15 G operations in double, 2 MB

struct NoveltyExamples {
  std::vector<ScoreSummary> known;    // of samples whose class has another one
  std::vector<ScoreSummary> unknown;  // class by class
};
NoveltyExamples novelty_examples(const LeftOut& left_out);

// The area under the ROC curve: how often a random `high` exceeds a random `low`, ties count half.
// 0.5 when either is empty.
double area_under_roc(std::span<const float> high, std::span<const float> low);

}  // namespace engram
