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

// What some measure says of each example; known ones should have the larger values.
struct NoveltyMeasure {
  std::vector<float> known, unknown;
};
// Whether `other` is worth using instead of `plain`. Gain: its area under the ROC curve less that of
// `plain`, for the unknown examples of one class against all known ones. The mean over the classes
// must reach kLeastGain and twice its own standard error. Classes are what counts, not samples:
// those of one class resemble each other. So the fewer classes there are and the less they agree,
// the more must be gained. groups: the class of each unknown example; one class is no evidence.
//
// Why not always: best / sqrt(1 + leverage) lost 0.003 to 0.022 of the area to the best score on
// Caltech-101 (70 classes, two of three backbones) and gained 0.005 to 0.07 on PACS (5 classes).
constexpr double kLeastGain = 0.01;
bool worth_using(const NoveltyMeasure& plain, const NoveltyMeasure& other,
                 std::span<const int> groups);

}  // namespace engram
